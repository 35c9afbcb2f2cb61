"""Chords from spectra: a residual network whose layers are scanned."""
import argparse
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

PITCHES, CHORDS = 512, 24


class Params(NamedTuple):
    gates: jax.Array
    weights: jax.Array
    head: jax.Array


class State(NamedTuple):
    params: Params
    momentum: Params
    key: jax.Array


def spectra(count, seed):
    """Three tones with overtones, in noise."""
    rng = np.random.default_rng(seed)
    chord = rng.integers(0, CHORDS, count)
    root, minor = chord % 12, chord // 12
    x = rng.standard_normal((count, PITCHES), dtype=np.float32)
    for interval in (np.zeros(count, int), 4 - minor, np.full(count, 7)):
        for overtone in range(1, 5):
            x[np.arange(count), (8 * (root + interval) + 96 * overtone // 2) % PITCHES] += 3 / overtone
    return x, chord.astype(np.int32)


def init(key, depth):
    key, *keys = jax.random.split(key, 3)
    params = Params(gates=jnp.full((depth, PITCHES), 0.1),
                    weights=jax.random.normal(keys[0], (depth, PITCHES, PITCHES)) * (2 / PITCHES) ** 0.5,
                    head=jax.random.normal(keys[1], (PITCHES, CHORDS)) * 0.02)
    return State(params, jax.tree_util.tree_map(jnp.zeros_like, params), key)


def logits_fn(params, x):
    def layer(h, leaf):
        gate, weight = leaf
        return h + gate * jax.nn.relu(h @ weight), None

    x, _ = jax.lax.scan(layer, x, (params.gates, params.weights))
    return x @ params.head


def loss_fn(params, key, x, y):
    keep = jax.random.bernoulli(key, 0.9, x.shape)
    logits = logits_fn(params, jnp.where(keep, x / 0.9, 0.0))
    return -jnp.mean(jax.vmap(lambda row, label: jax.nn.log_softmax(row)[label])(logits, y))


@partial(jax.jit, donate_argnums=0)
def train_step(state, x, y, rate):
    key, sub = jax.random.split(state.key)
    loss, grads = jax.value_and_grad(loss_fn)(state.params, sub, x, y)
    momentum = jax.tree_util.tree_map(lambda m, g: 0.9 * m + g, state.momentum, grads)
    params = jax.tree_util.tree_map(lambda p, m: p - rate * m, state.params, momentum)
    return State(params, momentum, key), loss


@jax.jit
def hits(params, x, y):
    return jnp.mean(jnp.argmax(logits_fn(params, x), 1) == y)


def minibatches(x, y, size, rng):
    order = rng.permutation(len(x))
    for first in range(0, len(x) - size + 1, size):
        rows = order[first : first + size]
        yield x[rows], y[rows]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=26)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--depth", type=int, default=8)
    args = parser.parse_args()
    x, y = spectra(16384, seed=0)
    test_x, test_y = spectra(512, seed=1)
    state = init(jax.random.PRNGKey(0), args.depth)
    rng = np.random.default_rng(0)
    step = 0
    for epoch in range(1, args.epochs + 1):
        rate = np.float32(0.02 * 0.95**epoch)
        for batch in minibatches(x, y, args.batch_size, rng):
            state, loss = train_step(state, *batch, rate)
            step += 1
            if step % 100 == 0:
                print(f"loss {loss.item():.3f}", flush=True)
        print(f"epoch {epoch} accuracy {hits(state.params, test_x, test_y).item():.3f}", flush=True)


if __name__ == "__main__":
    main()
