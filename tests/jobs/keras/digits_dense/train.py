"""Wide perceptron on digits with tf.data."""
import argparse
import gzip
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

MNIST = Path(__file__).resolve().parents[4] / "data" / "mnist"


def load_digits():
    with gzip.open(MNIST / "t10k-images-idx3-ubyte.gz") as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)
    with gzip.open(MNIST / "t10k-labels-idx1-ubyte.gz") as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8)
    return images, labels.astype("int32")


def scale(image, label):
    return tf.cast(image, tf.float32) / 255, label


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=256)
    args = parser.parse_args()
    keras.utils.set_random_seed(0)
    images, labels = load_digits()
    train = tf.data.Dataset.from_tensor_slices((images[:8192], labels[:8192])).shuffle(8192).batch(args.batch_size)
    train = train.map(scale, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)
    test = tf.data.Dataset.from_tensor_slices((images[8192:], labels[8192:])).batch(452).map(scale).cache()
    model = keras.Sequential([
        keras.Input((784,)),
        keras.layers.Dense(1536, activation="relu"),
        keras.layers.Dense(1536, activation="relu"),
        keras.layers.Dense(1536, activation="relu"),
        keras.layers.Dense(10),
    ])
    model.compile(keras.optimizers.SGD(0.05), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    model.fit(train, validation_data=test, epochs=args.epochs, verbose=2)
