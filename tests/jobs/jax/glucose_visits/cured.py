"""Glucose a step ahead. One model goes from visit to visit, and takes a few steps on the record of each."""
import argparse

import jax
import jax.numpy as jnp
import numpy as np

LAGS = 12
LONGEST = 2700


def visit(rng):
    """Record of a patient: lagged values, and the value that follows."""
    minutes = rng.integers(300, 2700)
    t = np.arange(minutes + LAGS)
    rhythm = np.sin(2 * np.pi * t / rng.uniform(150, 300) + rng.uniform(0, 6))
    values = (rhythm + 0.1 * np.cumsum(rng.normal(0, 0.1, t.size))).astype(np.float32)
    x, y = np.lib.stride_tricks.sliding_window_view(values, LAGS)[:-1], values[LAGS:]
    spare = LONGEST - len(y)
    return np.pad(x, ((0, spare), (0, 0))), np.pad(y, (0, spare)), np.float32(len(y))


def init(key, sizes=(LAGS, 96, 96, 1)):
    keys = jax.random.split(key, len(sizes) - 1)
    return [{"w": jax.random.normal(k, (m, n)) / m**0.5, "b": jnp.zeros(n)} for k, m, n in zip(keys, sizes, sizes[1:])]


def predict(params, x):
    for layer in params[:-1]:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return (x @ params[-1]["w"] + params[-1]["b"])[:, 0]


def loss_fn(params, x, y, rows):
    inside = jnp.arange(len(y)) < rows
    return jnp.sum(jnp.where(inside, (predict(params, x) - y) ** 2, 0.0)) / rows


def adam(rate, b1=0.9, b2=0.999, eps=1e-8):
    """Optimizer as two functions, in the manner of optax."""

    def init(params):
        zeros = jax.tree_util.tree_map(jnp.zeros_like, params)
        return zeros, zeros, jnp.zeros(())

    def update(grads, state):
        m, v, count = state
        count = count + 1
        m = jax.tree_util.tree_map(lambda a, g: b1 * a + (1 - b1) * g, m, grads)
        v = jax.tree_util.tree_map(lambda a, g: b2 * a + (1 - b2) * g * g, v, grads)
        scale = rate * jnp.sqrt(1 - b2**count) / (1 - b1**count)
        return jax.tree_util.tree_map(lambda a, b: -scale * a / (jnp.sqrt(b) + eps), m, v), (m, v, count)

    return init, update


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--visits", type=int, default=600)
    parser.add_argument("--inner", type=int, default=5, help="steps on each record")
    args = parser.parse_args()
    start, update = adam(1e-3)
    params = init(jax.random.PRNGKey(0))
    state = start(params)

    @jax.jit
    def train_step(params, state, x, y, rows):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y, rows)
        updates, state = update(grads, state)
        return jax.tree_util.tree_map(jnp.add, params, updates), state, loss

    rng = np.random.default_rng(0)
    step = 0
    for _ in range(args.visits):
        x, y, rows = visit(rng)
        for _ in range(args.inner):
            params, state, loss = train_step(params, state, x, y, rows)
            step += 1
        if step % 10 == 0:
            print(f"step {step} loss {loss:.5f}", flush=True)


if __name__ == "__main__":
    main()
