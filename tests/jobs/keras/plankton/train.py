"""Plankton from a camera under water: photos in TFRecord files, and a model with its own training step."""
import argparse
import os
import tempfile

import keras
import numpy as np
import tensorflow as tf

SIZE = 64
FEATURES = {"photo": tf.io.FixedLenFeature([], tf.string), "species": tf.io.FixedLenFeature([], tf.int64)}


def specimen(rng, size=192):
    """A bright ring with as many lobes as the number of its species says."""
    species = int(rng.integers(0, 5))
    y, x = np.mgrid[-1:1:size * 1j, -1:1:size * 1j] - rng.uniform(-0.2, 0.2, (2, 1, 1))
    lobes = 0.5 + 0.15 * np.cos((species + 2) * np.arctan2(y, x) + rng.uniform(0, 6))
    gray = 60 + 150 * np.exp(-((np.hypot(x, y) - lobes) / 0.08) ** 2) + rng.normal(0, 12, (size, size))
    return np.repeat(gray.clip(0, 255).astype(np.uint8)[..., None], 3, axis=-1), species


def write_records(folder, shards=8, per_shard=150):
    rng = np.random.default_rng(0)
    for shard in range(shards):
        with tf.io.TFRecordWriter(os.path.join(folder, f"dive-{shard}.tfrecord")) as writer:
            for _ in range(per_shard):
                photo, species = specimen(rng)
                feature = {
                    "photo": tf.train.Feature(bytes_list=tf.train.BytesList(value=[tf.io.encode_jpeg(photo).numpy()])),
                    "species": tf.train.Feature(int64_list=tf.train.Int64List(value=[species])),
                }
                writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def parse(record):
    fields = tf.io.parse_single_example(record, FEATURES)
    photo = tf.io.decode_jpeg(fields["photo"], channels=3, dct_method="INTEGER_ACCURATE")
    photo = tf.image.convert_image_dtype(photo, tf.float32)
    photo = tf.image.adjust_contrast(photo, 1.4)
    photo = tf.image.adjust_saturation(photo, 0.8)
    photo = tf.image.resize(photo, (SIZE, SIZE), method="lanczos3", antialias=True)
    return tf.image.per_image_standardization(photo), fields["species"]


def make_dataset(folder, batch_size):
    files = tf.data.Dataset.list_files(os.path.join(folder, "dive-*.tfrecord"), shuffle=True, seed=1)
    photos = files.interleave(tf.data.TFRecordDataset, cycle_length=4, block_length=8)
    photos = photos.map(parse)
    return photos.shuffle(256, seed=2).batch(batch_size, drop_remainder=True)


class Classifier(keras.Model):
    def __init__(self, classes):
        super().__init__()
        self.body = keras.Sequential([
            keras.layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
            keras.layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
            keras.layers.GlobalMaxPooling2D(),
        ])
        self.head = keras.layers.Dense(classes)
        self.mean_loss = keras.metrics.Mean(name="loss")
        self.hits = keras.metrics.SparseCategoricalAccuracy(name="accuracy")

    def call(self, x, training=False):
        return self.head(self.body(x, training=training))

    @property
    def metrics(self):
        return [self.mean_loss, self.hits]

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            logits = self(x, training=True)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        self.mean_loss.update_state(loss)
        self.hits.update_state(y, logits)
        return {metric.name: metric.result() for metric in self.metrics}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--batch-size", type=int, default=24)
    args = parser.parse_args()
    keras.utils.set_random_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        write_records(folder)
        model = Classifier(classes=5)
        model.compile(optimizer=keras.optimizers.Adam(1e-3))
        model.fit(make_dataset(folder, args.batch_size), epochs=args.epochs, verbose=2)


if __name__ == "__main__":
    main()
