"""Which language is a name list from? Convolutions over characters, batches as long as their longest text."""
import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np

LANGUAGES, LETTERS = 6, 30


def batches(rng, batch_size):
    tendency = rng.dirichlet(np.full(LETTERS - 1, 0.3), LANGUAGES)
    while True:
        language = rng.integers(0, LANGUAGES, batch_size)
        lengths = rng.integers(10, rng.integers(30, 400), batch_size)
        text = np.zeros((batch_size, lengths.max()), np.int32)
        for row, which, length in zip(text, language, lengths):
            row[:length] = rng.choice(LETTERS - 1, length, p=tendency[which]) + 1
        yield text, language


def init(key, width=64):
    k = jax.random.split(key, 4)
    return {"embed": jax.random.normal(k[0], (LETTERS, width)) * 0.1, "conv1": jax.random.normal(k[1], (5, width, 128)) * 0.05,
            "conv2": jax.random.normal(k[2], (5, 128, 128)) * 0.04, "out": jax.random.normal(k[3], (128, LANGUAGES)) * 0.1}


def convolve(x, kernel):
    return jax.lax.conv_general_dilated(x, kernel, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))


def loss_fn(params, text, language):
    mask = (text > 0)[..., None]
    x = params["embed"][text] * mask
    x = jax.nn.relu(convolve(x, params["conv1"])) * mask
    x = jax.nn.relu(convolve(x, params["conv2"])) * mask
    logits = (x.sum(1) / mask.sum(1)) @ params["out"]
    return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(len(language)), language])


@jax.jit
def update(params, text, language):
    loss, grads = jax.value_and_grad(loss_fn)(params, text, language)
    return jax.tree_util.tree_map(lambda p, g: p - 0.5 * g, params, grads), loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch-size", type=int, default=16)
    args = parser.parse_args()
    params = init(jax.random.PRNGKey(0))
    begin = time.time()
    for step, (text, language) in enumerate(batches(np.random.default_rng(0), args.batch_size), 1):
        params, loss = update(params, text, language)
        if step % 10 == 0:
            print(f"step {step} loss {float(loss):.3f} after {time.time() - begin:.1f} s", flush=True)
        if step == args.steps:
            break


if __name__ == "__main__":
    main()
