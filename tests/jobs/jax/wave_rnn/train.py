"""Next sample of a wave with a gated recurrent network, over lax.scan."""
import argparse

import jax
import jax.numpy as jnp
import numpy as np


def waves(rng, count, length):
    time = np.arange(length + 1, dtype=np.float32)
    speed, phase = rng.uniform(0.05, 0.4, (2, count, 3, 1)).astype(np.float32)
    return np.sin(speed * time + 10 * phase).mean(1)


def init(key, hidden):
    k1, k2, k3 = jax.random.split(key, 3)
    return {"wx": jax.random.normal(k1, (1, 3 * hidden)) * 0.3, "wh": jax.random.normal(k2, (hidden, 3 * hidden)) / hidden**0.5,
            "b": jnp.zeros(3 * hidden), "wo": jax.random.normal(k3, (hidden, 1)) / hidden**0.5}


def rnn_loss(params, wave):
    hidden = params["wh"].shape[0]

    def cell(h, x):
        gx = x[:, None] @ params["wx"] + params["b"]
        gh = h @ params["wh"]
        update = jax.nn.sigmoid(gx[:, :hidden] + gh[:, :hidden])
        reset = jax.nn.sigmoid(gx[:, hidden : 2 * hidden] + gh[:, hidden : 2 * hidden])
        candidate = jnp.tanh(gx[:, 2 * hidden :] + reset * gh[:, 2 * hidden :])
        h = update * h + (1 - update) * candidate
        return h, (h @ params["wo"])[:, 0]

    _, predicted = jax.lax.scan(cell, jnp.zeros((len(wave), hidden)), wave[:, :-1].T)
    return jnp.mean((predicted - wave[:, 1:].T) ** 2)


@jax.jit
def step_fn(params, velocity, wave):
    loss, grads = jax.value_and_grad(rnn_loss)(params, wave)
    velocity = jax.tree_util.tree_map(lambda v, g: 0.9 * v + g, velocity, grads)
    return jax.tree_util.tree_map(lambda p, v: p - 0.01 * v, params, velocity), velocity, loss


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--hidden", type=int, default=256)
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    data = waves(rng, 4096, 64)
    params = init(jax.random.PRNGKey(0), args.hidden)
    velocity = jax.tree_util.tree_map(jnp.zeros_like, params)
    for step in range(1, args.steps + 1):
        params, velocity, loss = step_fn(params, velocity, data[rng.integers(0, len(data), args.batch_size)])
        if step % 10 == 0:
            print(f"step {step} mse {loss:.5f}", flush=True)
