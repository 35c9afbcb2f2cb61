"""Review scores from texts of different lengths, with a loop of one's own."""
import argparse
import time

import numpy as np
import tensorflow as tf
from keras import Model, layers, losses, optimizers


class Scorer(Model):
    def __init__(self, vocabulary=5000, width=64):
        super().__init__()
        self.embed = layers.Embedding(vocabulary, width)
        self.first = layers.Conv1D(128, 5, padding="same", activation="relu")
        self.second = layers.Conv1D(128, 5, padding="same", activation="relu")
        self.pool = layers.GlobalMaxPooling1D()
        self.out = layers.Dense(1)

    def call(self, words):
        return self.out(self.pool(self.second(self.first(self.embed(words)))))


def review_batches(batch_size, seed=0):
    """Each batch is as long as its longest review."""
    rng = np.random.default_rng(seed)
    while True:
        lengths = rng.integers(20, rng.integers(60, 600), batch_size)
        words = np.zeros((batch_size, lengths.max()), np.int32)
        for row, length in zip(words, lengths):
            row[:length] = rng.integers(1, 5000, length)
        yield words, (words[:, :20] > 2500).mean(1, keepdims=True).astype(np.float32)


model = Scorer()
optimizer = optimizers.Adam(1e-3)
loss_fn = losses.MeanSquaredError()


@tf.function(reduce_retracing=True)
def train_step(words, score):
    with tf.GradientTape() as tape:
        loss = loss_fn(score, model(words, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch-size", type=int, default=16)
    args = parser.parse_args()
    tf.random.set_seed(0)
    begin = time.time()
    for step, (words, score) in enumerate(review_batches(args.batch_size), 1):
        loss = train_step(tf.constant(words), tf.constant(score))
        if step % 10 == 0:
            print(f"step {step} loss {loss.numpy():.4f} {time.time() - begin:.1f} s", flush=True)
        if step == args.steps:
            break


if __name__ == "__main__":
    main()
