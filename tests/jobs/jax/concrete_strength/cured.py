"""Strength of concrete from its mixture: a deep perceptron and Adam in plain JAX."""
import argparse

import jax
import jax.numpy as jnp
import numpy as np


def mixtures(count=20000, features=8):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((count, features)).astype(np.float32)
    y = x[:, :1] * x[:, 1:2] + np.sin(x[:, 2:3]) + 0.1 * rng.standard_normal((count, 1))
    return x, y.astype(np.float32)


def init(key, sizes):
    keys = jax.random.split(key, len(sizes))
    return [{"w": jax.random.normal(k, (m, n)) * (2 / m) ** 0.5, "b": jnp.zeros(n)} for k, m, n in zip(keys, sizes, sizes[1:])]


def predict(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def loss_fn(params, x, y):
    return jnp.mean((predict(params, x) - y) ** 2)


value_and_grad = jax.jit(jax.value_and_grad(loss_fn))


@jax.jit
def adam(params, grads, state, lr=1e-3, b1=0.9, b2=0.999, eps=1e-8):
    count = state["count"] + 1
    mean = jax.tree_util.tree_map(lambda m, g: b1 * m + (1 - b1) * g, state["mean"], grads)
    var = jax.tree_util.tree_map(lambda v, g: b2 * v + (1 - b2) * g * g, state["var"], grads)
    scale = lr * (1 - b2**count) ** 0.5 / (1 - b1**count)
    params = jax.tree_util.tree_map(lambda p, m, v: p - scale * m / (jnp.sqrt(v) + eps), params, mean, var)
    return params, {"count": count, "mean": mean, "var": var}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=2500)
    parser.add_argument("--batch-size", type=int, default=128)
    args = parser.parse_args()
    x, y = mixtures()
    params = init(jax.random.PRNGKey(0), [8] + 12 * [64] + [1])
    zeros = jax.tree_util.tree_map(jnp.zeros_like, params)
    state = {"count": jnp.zeros(()), "mean": zeros, "var": zeros}
    rng = np.random.default_rng(1)
    for step in range(1, args.steps + 1):
        rows = rng.integers(0, len(x), args.batch_size)
        loss, grads = value_and_grad(params, x[rows], y[rows])
        params, state = adam(params, grads, state)
        if step % 50 == 0:
            print(f"step {step} loss {loss:.4f}", flush=True)


if __name__ == "__main__":
    main()
