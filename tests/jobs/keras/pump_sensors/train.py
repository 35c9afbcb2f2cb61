"""Does the pump fail within a day? A small network on sensor readings."""
import argparse

import keras
import numpy as np
import tensorflow as tf


def readings(count=48000, sensors=18):
    rng = np.random.default_rng(0)
    values = rng.standard_normal((count, sensors)).astype("float32")
    fails = (values[:, 0] + values[:, 1] * values[:, 2] > 1.0).astype("float32")
    return values, fails


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--batch-size", type=int, default=32)
    args = parser.parse_args()
    keras.utils.set_random_seed(0)
    values, fails = readings()
    train = tf.data.Dataset.from_tensor_slices((values, fails)).cache().shuffle(4096)
    train = train.batch(args.batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
    model = keras.Sequential([keras.Input((18,)), keras.layers.Dense(32, activation="relu"),
                              keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer=keras.optimizers.SGD(0.05), loss="binary_crossentropy")
    model.fit(train, epochs=args.epochs, verbose=2)
    print("loss on the first thousand:", model.evaluate(values[:1000], fails[:1000], verbose=0))
