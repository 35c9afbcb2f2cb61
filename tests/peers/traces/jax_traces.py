"""Makes one trace with JAX's profiler: jax_traces.py NAME FOLDER. As torch_traces.py."""
import contextlib
import pathlib
import sys
import time

import jax
import jax.numpy as jnp
import numpy

STEPS = 10


@jax.jit
def step(weights, values):
    def loss(weights):
        return jnp.mean(jnp.tanh(jnp.tanh(values @ weights) @ weights) ** 2)
    return weights - 1e-3 * jax.grad(loss)(weights)


def busy(seconds):
    """Python that computes until the thread has used so much processor time."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(1000))


def train(folder, batches, width=64, marked=True, between=lambda weights: None):
    """`batches`: of each step; the first is the warm-up."""
    weights = jnp.asarray(numpy.random.default_rng(1).normal(size=(width, width)), jnp.float32)
    batches = iter(batches)
    weights = step(weights, next(batches))
    between(weights)
    jax.block_until_ready(weights)
    with jax.profiler.trace(str(folder)):
        for number in range(STEPS):
            with jax.profiler.StepTraceAnnotation("train", step_num=number) if marked else contextlib.nullcontext():
                weights = step(weights, next(batches))
                between(weights)
                if not marked:
                    jax.block_until_ready(weights)
        jax.block_until_ready(weights)


def ready(batch=8, width=64):
    return [jnp.ones((batch, width))] * (STEPS + 1)


def products(folder, marked=True):
    train(folder, ready(1024, 1024), 1024, marked, jax.block_until_ready)


def recompile(folder):
    train(folder, [jnp.ones((8 + number, 64)) for number in range(STEPS + 1)])


def slow_batches():
    for _ in range(STEPS + 1):
        yield load_batch()


def load_batch():
    time.sleep(0.04)
    return jnp.ones((8, 64))


def reads(folder):
    """64 values in each step, each read by itself: what is computed is next to nothing."""
    @jax.jit
    def parts(weights):
        return [weights[0, i] for i in range(64)]

    def read(weights):
        return sum(float(part) for part in parts(weights))
    train(folder, ready(), between=read)


def small_operators(folder):
    """Operator by operator, outside of jax.jit."""
    def between(weights):
        value = weights[:4, :4]
        for _ in range(60):
            value = jnp.tanh(value @ value)
    train(folder, ready(), between=between)


def log_values(weights):
    time.sleep(0.04)


def count_values(weights):
    busy(0.04)


def too_short(folder):
    value = jnp.ones((4, 4))
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    with jax.profiler.trace(str(folder), profiler_options=options):
        jax.block_until_ready(value + 1)


CASES = {
    "products": products,
    "products_unmarked": lambda folder: products(folder, marked=False),
    "recompile": recompile,
    "small_operators": small_operators,
    "reads": reads,
    "input": lambda folder: train(folder, slow_batches()),
    "input_unmarked": lambda folder: train(folder, slow_batches(), marked=False),
    "python": lambda folder: train(folder, ready(), between=log_values),
    "python_busy": lambda folder: train(folder, ready(), between=count_values),
    "too_short": too_short,
}

if __name__ == "__main__":
    CASES[sys.argv[1]](pathlib.Path(sys.argv[2]))
