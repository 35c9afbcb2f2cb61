"""Digits with random dots and lines drawn over them, to make the network robust."""
import argparse
import gzip
import random
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

MNIST = Path(__file__).resolve().parents[4] / "data" / "mnist"


def load_digits():
    with gzip.open(MNIST / "t10k-images-idx3-ubyte.gz") as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 28, 28)
    with gzip.open(MNIST / "t10k-labels-idx1-ubyte.gz") as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8)
    return images.astype("float32") / 255, labels.astype("int32")


def draw_over(image):
    image = image.copy()
    for _ in range(6):
        x, y = random.uniform(0, 27), random.uniform(0, 27)
        dx, dy = random.uniform(-1, 1), random.uniform(-1, 1)
        for _ in range(20):
            for i in range(28):
                for j in (int(x) - 1, int(x), int(x) + 1):
                    if abs(i - y) + abs(j - x) < 1.2 and 0 <= j < 28:
                        image[i, j] = max(0.0, min(1.0, 1.2 - abs(i - y) - abs(j - x)))
            x, y = x + dx, y + dy
    return image


def scribble(image, label):
    drawn = tf.numpy_function(draw_over, [image], tf.float32)
    return tf.ensure_shape(drawn, (28, 28))[..., tf.newaxis], label


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=64)
    args = parser.parse_args()
    keras.utils.set_random_seed(0)
    images, labels = load_digits()
    data = tf.data.Dataset.from_tensor_slices((images[:2560], labels[:2560])).shuffle(2560)
    data = data.map(scribble, num_parallel_calls=tf.data.AUTOTUNE)
    data = data.batch(args.batch_size).prefetch(tf.data.AUTOTUNE)
    model = keras.Sequential([
        keras.Input((28, 28, 1)),
        keras.layers.Conv2D(16, 3, activation="relu"),
        keras.layers.MaxPooling2D(),
        keras.layers.Conv2D(32, 3, activation="relu"),
        keras.layers.MaxPooling2D(),
        keras.layers.Flatten(),
        keras.layers.Dense(10, activation="softmax"),
    ])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(data, epochs=args.epochs, verbose=2)


if __name__ == "__main__":
    main()
