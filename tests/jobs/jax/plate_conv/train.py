"""Defects on steel plates: a small convolutional network in plain JAX."""
import argparse

import jax
import jax.numpy as jnp
import numpy as np


def plates(count, size=32):
    rng = np.random.default_rng(0)
    images = rng.standard_normal((count, size, size, 1), dtype=np.float32)
    defect = rng.integers(0, 2, count)
    rows = rng.integers(0, size - 6, count)
    for image, has_defect, row in zip(images, defect, rows):
        if has_defect:
            image[row : row + 4, 4:28] += 1.0
    return images, defect.astype(np.float32)


def init(key, widths=(1, 16, 32, 32)):
    keys = jax.random.split(key, len(widths))
    kernels = [jax.random.normal(k, (3, 3, m, n)) * (2 / (9 * m)) ** 0.5 for k, m, n in zip(keys, widths, widths[1:])]
    return {"kernels": kernels, "out": jax.random.normal(keys[-1], (widths[-1],)) * 0.1, "bias": jnp.zeros(())}


def logit(params, x):
    for kernel in params["kernels"]:
        x = jax.nn.relu(jax.lax.conv_general_dilated(x, kernel, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
    return x.max((1, 2)) @ params["out"] + params["bias"]


def loss_fn(params, x, y):
    z = logit(params, x)
    return jnp.mean(jnp.logaddexp(0, z) - y * z)


@jax.jit
def train_step(params, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    return jax.tree_util.tree_map(lambda p, g: p - 0.1 * g, params, grads), loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--batch-size", type=int, default=128)
    args = parser.parse_args()
    images, defect = plates(4096)
    params = init(jax.random.PRNGKey(0))
    rng = np.random.default_rng(1)
    for epoch in range(1, args.epochs + 1):
        losses = []
        order = rng.permutation(len(images))
        for first in range(0, len(order) - args.batch_size + 1, args.batch_size):
            rows = order[first : first + args.batch_size]
            params, loss = train_step(params, images[rows], defect[rows])
            losses.append(loss)
        print(f"epoch {epoch} loss {np.mean(jax.device_get(losses)):.4f}", flush=True)


if __name__ == "__main__":
    main()
