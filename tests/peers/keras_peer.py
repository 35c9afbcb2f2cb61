"""One model in Keras: `keras_peer.py time MODEL BATCH` or `keras_peer.py accuracy MODEL BATCH EPOCHS SEED`."""

import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import settings  # noqa: E402


def build(keras, model):
    layers = [keras.Input((784,))]
    if model == "M3":
        layers += [
            keras.layers.Reshape((28, 28, 1)),
            keras.layers.Conv2D(32, 3, activation="relu"),
            keras.layers.MaxPooling2D(2),
            keras.layers.Flatten(),
        ]
    else:
        layers += [keras.layers.Dense(width, activation="relu") for width in settings.HIDDEN[model]]
    layers.append(keras.layers.Dense(settings.CLASSES, activation="softmax"))
    network = keras.Sequential(layers)
    network.compile(
        optimizer=keras.optimizers.Adam(settings.LEARNING_RATE),
        loss="categorical_crossentropy",
        metrics=["accuracy"],
    )
    return network


def batches(tf, images, labels, batch):
    """The input pipeline of the documented scripts."""
    data = tf.data.Dataset.from_tensor_slices((images, labels))
    return data.shuffle(10000).batch(batch).prefetch(tf.data.AUTOTUNE)


def time_steps(tf, keras, arguments):
    images, labels = settings.digits("train")
    examples = settings.epoch_examples(arguments.model, arguments.batch, len(images))
    images, labels = images[:examples], labels[:examples]
    timer = settings.EpochTimer(examples // arguments.batch, arguments.seconds)

    class Epochs(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            timer.begin()

        def on_epoch_end(self, epoch, logs=None):
            timer.end()
            self.model.stop_training = timer.enough()

    network = build(keras, arguments.model)
    fit = {"epochs": 1000, "verbose": 0, "callbacks": [Epochs()]}
    if arguments.input == "arrays":
        network.fit(images, labels, batch_size=arguments.batch, **fit)
    else:
        network.fit(batches(tf, images, labels, arguments.batch), **fit)
    settings.print_result(timer.result(system="keras", version=f"{keras.__version__} on TensorFlow {tf.__version__}",
                                       input=arguments.input))


def train(keras, arguments):
    network = build(keras, arguments.model)
    network.fit(*settings.digits("train"), batch_size=arguments.batch, epochs=arguments.epochs, verbose=0)
    loss, accuracy = network.evaluate(*settings.digits("test"), batch_size=500, verbose=0)
    settings.print_result({"system": "keras", "seed": arguments.seed, "loss": loss, "accuracy": accuracy})


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=["time", "accuracy"])
    parser.add_argument("model", choices=["M1", "M2", "M3"])
    parser.add_argument("batch", type=int)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--input", choices=["arrays", "dataset"], default="arrays")
    arguments = parser.parse_args()

    import tensorflow as tf
    import keras

    tf.config.threading.set_intra_op_parallelism_threads(arguments.threads)
    tf.config.threading.set_inter_op_parallelism_threads(arguments.threads)
    keras.utils.set_random_seed(arguments.seed)
    if arguments.task == "time":
        time_steps(tf, keras, arguments)
    else:
        train(keras, arguments)


if __name__ == "__main__":
    main()
