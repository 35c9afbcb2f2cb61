"""Flower classifier on a folder of JPEG files."""
import argparse
import tempfile
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf


def make_flowers(folder, classes=5, per_class=100):
    rng = np.random.default_rng(0)
    for label in range(classes):
        (folder / str(label)).mkdir()
        for index in range(per_class):
            coarse = rng.integers(0, 200, (15, 20, 3)).astype(np.float32)
            coarse[..., label % 3] += 40
            image = tf.cast(tf.image.resize(coarse, (480, 640), "bicubic"), tf.uint8)
            tf.io.write_file(str(folder / str(label) / f"{index:03d}.jpg"), tf.io.encode_jpeg(image, quality=92))


def load(path):
    label = tf.strings.to_number(tf.strings.split(path, "/")[-2], tf.int32)
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.image.resize(image, (40, 40)) / 255.0, label


def augment(image, label):
    image = tf.image.random_flip_left_right(image)
    image = tf.image.random_crop(image, (32, 32, 3))
    return image, label


def make_model():
    return keras.Sequential([
        keras.Input((32, 32, 3)),
        keras.layers.Conv2D(16, 5, strides=2, activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(5, activation="softmax"),
    ])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=25)
    args = parser.parse_args()
    keras.utils.set_random_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        make_flowers(Path(folder))
        data = tf.data.Dataset.list_files(f"{folder}/*/*.jpg", shuffle=True, seed=0)
        data = data.map(load)
        data = data.map(augment)
        data = data.batch(args.batch_size)
        model = make_model()
        model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
        model.fit(data, epochs=args.epochs, verbose=2)


if __name__ == "__main__":
    main()
