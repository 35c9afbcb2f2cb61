"""Short codes for answers to questionnaires: a discrete autoencoder with Gumbel-softmax, and a loop of its own."""
import argparse
import math

import keras
import numpy as np
import tensorflow as tf

QUESTIONS, LETTERS, ALPHABET = 128, 20, 10


def answers(count=8192, types=40, seed=0):
    """People of a type answer alike."""
    rng = np.random.default_rng(seed)
    profile = rng.random((types, QUESTIONS)) < 0.4
    flips = rng.random((count, QUESTIONS)) < 0.05
    return (profile[rng.integers(0, types, count)] ^ flips).astype(np.float32)


def dense_pair(inputs, hidden, outputs):
    return keras.Sequential([keras.Input((inputs,)), keras.layers.Dense(hidden, activation="relu"), keras.layers.Dense(outputs)])


def run(args):
    keras.utils.set_random_seed(args.seed)
    encoder = dense_pair(QUESTIONS, 256, LETTERS * ALPHABET)
    decoder = dense_pair(LETTERS * ALPHABET, 256, QUESTIONS)
    variables = encoder.trainable_variables + decoder.trainable_variables
    optimizer = keras.optimizers.Adam(1e-3)
    optimizer.build(variables)
    people = tf.data.Dataset.from_tensor_slices(answers()).shuffle(8192, seed=args.seed)
    batches = people.batch(args.batch_size, drop_remainder=True).repeat().prefetch(2)

    @tf.function
    def train_step(x, temperature):
        with tf.GradientTape() as tape:
            logits = tf.reshape(encoder(x, training=True), (-1, LETTERS, ALPHABET))
            uniform = tf.random.uniform(tf.shape(logits), 1e-6, 0.99999)
            letters = tf.nn.softmax((logits - tf.math.log(-tf.math.log(uniform))) / temperature)
            restored = decoder(tf.reshape(letters, (-1, LETTERS * ALPHABET)), training=True)
            wrong = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=restored), axis=-1)
            log_q = tf.nn.log_softmax(logits)
            divergence = tf.reduce_sum(tf.exp(log_q) * (log_q + math.log(ALPHABET)), axis=(1, 2))
            loss = tf.reduce_mean(wrong + args.beta * divergence)
        optimizer.apply(tape.gradient(loss, variables), variables)
        return loss

    for step, x in enumerate(batches.take(args.steps), start=1):
        temperature = round(max(0.4, math.exp(-args.cooling * step)), 3)
        loss = train_step(x, temperature)
        if step % 10 == 0:
            print(f"step {step} loss {float(loss):.2f} temperature {temperature}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=2200)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--beta", type=float, default=0.1)
    parser.add_argument("--cooling", type=float, default=2.5e-4)
    parser.add_argument("--seed", type=int, default=0)
    run(parser.parse_args())
