"""Next-minute forecaster that is trained from a quote service."""
import argparse
import time

import keras
import numpy as np
import tensorflow as tf

WINDOW, FEATURES = 60, 12


class QuoteService:
    """Stands in for the company's service: one page of quotes for each request."""

    def __init__(self, latency=0.03):
        self.latency = latency
        self.rng = np.random.default_rng(0)

    def page(self, rows):
        time.sleep(self.latency)
        walk = self.rng.standard_normal((rows, WINDOW + 1, FEATURES), dtype=np.float32).cumsum(1)
        walk -= walk[:, :1]
        return walk[:, :-1], walk[:, -1, :1]


def stream(batch_size):
    service = QuoteService()
    while True:
        yield service.page(batch_size)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=64)
    args = parser.parse_args()
    keras.utils.set_random_seed(0)
    signature = (tf.TensorSpec((None, WINDOW, FEATURES)), tf.TensorSpec((None, 1)))
    data = tf.data.Dataset.from_generator(lambda: stream(args.batch_size), output_signature=signature)
    options = tf.data.Options()
    options.autotune.enabled = False
    data = data.prefetch(8).with_options(options)
    model = keras.Sequential([
        keras.Input((WINDOW, FEATURES)),
        keras.layers.Conv1D(64, 5, activation="relu"),
        keras.layers.GRU(64),
        keras.layers.Dense(1),
    ])
    model.compile("adam", "mse")
    model.fit(data, steps_per_epoch=60, epochs=args.epochs, verbose=2)


if __name__ == "__main__":
    main()
