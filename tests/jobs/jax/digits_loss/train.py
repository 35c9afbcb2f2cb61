"""Digits with a wide perceptron in plain JAX; the loss of each step is kept for the curve."""
import argparse
import gzip
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

MNIST = Path(__file__).resolve().parents[4] / "data" / "mnist"


def load_digits():
    with gzip.open(MNIST / "t10k-images-idx3-ubyte.gz") as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784).astype(np.float32) / 255
    with gzip.open(MNIST / "t10k-labels-idx1-ubyte.gz") as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8).astype(np.int32)
    return images, labels


def init(key, sizes):
    keys = jax.random.split(key, len(sizes))
    return [(jax.random.normal(k, (m, n)) * (2 / m) ** 0.5, jnp.zeros(n)) for k, m, n in zip(keys, sizes, sizes[1:])]


def loss_fn(params, x, y):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    logits = x @ params[-1][0] + params[-1][1]
    return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(len(y)), y])


@jax.jit
def train_step(params, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    return jax.tree_util.tree_map(lambda p, g: p - 0.05 * g, params, grads), loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--batch-size", type=int, default=256)
    args = parser.parse_args()
    images, labels = load_digits()
    params = init(jax.random.PRNGKey(0), [784, 1536, 1536, 1536, 10])
    rng = np.random.default_rng(0)
    curve = []
    for step in range(1, args.steps + 1):
        rows = rng.integers(0, len(images), args.batch_size)
        params, loss = train_step(params, images[rows], labels[rows])
        curve.append(float(loss))
        if step % 10 == 0:
            print(f"step {step} loss {np.mean(curve[-10:]):.4f}", flush=True)


if __name__ == "__main__":
    main()
