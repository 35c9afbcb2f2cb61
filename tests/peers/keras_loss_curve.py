"""The autoencoder of tests/peers/float16 in Keras: trains it by some steps in one precision, prints each step's loss."""

import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import settings  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("policy")
    parser.add_argument("--unscaled", action="store_true")
    parser.add_argument("--width", type=int, required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()

    import keras
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(arguments.threads)
    tf.config.threading.set_inter_op_parallelism_threads(arguments.threads)
    keras.utils.set_random_seed(arguments.seed)
    keras.config.set_dtype_policy(arguments.policy)
    network = keras.Sequential([
        keras.Input((784,)),
        keras.layers.Dense(arguments.width, activation="relu"),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(arguments.width, activation="relu"),
        keras.layers.Dense(784, activation="sigmoid"),
    ])
    network.compile(optimizer=keras.optimizers.Adam(), loss="mean_squared_error",
                    auto_scale_loss=not arguments.unscaled)
    images, _ = settings.digits("train")
    data = tf.data.Dataset.from_tensor_slices((images, images)).shuffle(60000, seed=arguments.seed)
    data = data.batch(arguments.batch, drop_remainder=True).repeat()
    history = network.fit(data, epochs=arguments.steps, steps_per_epoch=1, verbose=0).history
    losses = [float(loss) for loss in history["loss"]]
    settings.print_result({"system": "keras", "losses": [loss if loss == loss else None for loss in losses]})


if __name__ == "__main__":
    main()
