"""Digits; averages of the weights with four decays are kept, and the best is chosen at the end."""
import argparse
import gzip
from functools import partial
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


def forward(params, x):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    return x @ params[-1][0] + params[-1][1]


def loss_fn(params, x, y):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(forward(params, x)), y[:, None], 1))


@partial(jax.jit, static_argnames="lr")
def train_step(params, x, y, lr):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    return jax.tree_util.tree_map(lambda p, g: p - lr * g, params, grads), loss


@jax.jit
def blend(average, params, decay):
    return jax.tree_util.tree_map(lambda a, p: decay * a + (1 - decay) * p, average, params)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--batch-size", type=int, default=32)
    args = parser.parse_args()
    images, labels = load_digits()
    params = init(jax.random.PRNGKey(0), [784, 1024, 1024, 10])
    averages = {decay: params for decay in (0.9, 0.99, 0.999, 0.9999)}
    rng = np.random.default_rng(0)
    for step in range(1, args.steps + 1):
        rows = rng.integers(0, 8000, args.batch_size)
        params, loss = train_step(params, images[rows], labels[rows], lr=0.05)
        averages = {decay: blend(average, params, decay) for decay, average in averages.items()}
        if step % 25 == 0:
            print(f"step {step} loss {loss:.4f}", flush=True)
    for decay, average in averages.items():
        hits = jnp.argmax(forward(average, images[8000:]), 1) == labels[8000:]
        print(f"decay {decay}: accuracy {hits.mean():.4f}")


if __name__ == "__main__":
    main()
