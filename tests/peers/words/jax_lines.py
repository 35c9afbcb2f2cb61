"""Executes each line of JAX once, and looks for its effect. No case depends on a time."""
import sys

import jax
import jax.numpy as jnp
import numpy as np

from lines import NoEffect, execute, run


def see(effect, what):
    if not effect:
        raise AssertionError(f"no effect: {what}")


def names(**own):
    return {"jax": jax, "jnp": jnp, **own}


def needs(module):
    """For lines of libraries beside JAX."""
    try:
        return __import__(module)
    except ImportError as why:
        raise NoEffect(f"{module} is not installed") from why


def loader(line):
    grain = needs("grain")
    raise NoEffect(f"grain {getattr(grain, '__version__', '')}: the arguments of its loader are the user's own")


def batch(**values):
    def case(line):
        grain = needs("grain")
        made = execute(line, names(dataset=grain.MapDataset.range(8)), **values)
        see(len(made[0]) == 4, "batches of 4")
    return case


def batched_map(line):
    grain = needs("grain")
    made = execute(line, names(dataset=grain.MapDataset.range(8), double=lambda x: 2 * x), batch="4", function="double")
    see(list(made[0]) == [0, 2, 4, 6], "the function gets a batch")


def jitted(line):
    own = names(step=lambda x: x + 1)
    execute(line, own)
    see(own["step"](jnp.ones(2)).tolist() == [2, 2] and hasattr(own["step"], "lower"), "a compiled function")


def prefetch_to_device(line):
    own = names(batches=iter([np.zeros(2)]))
    execute(line, own)
    see(isinstance(own["following"], jax.Array), "the next batch is an array of the device")


def on_device(line):
    own = names(params={"w": np.ones(2)})
    execute(line, own, device="jax.devices()[0]")
    see(isinstance(own["params"]["w"], jax.Array), "the device")


def one_device(line):
    own = names(params=np.ones(2))
    execute(line, own)
    see(isinstance(own["params"], jax.Array), "the device")


def fewer_callbacks(line):
    calls = []
    for step in range(8):
        execute(line, names(step=step, callback=lambda: calls.append(1)), n="4", callback="callback")
    see(len(calls) == 2, f"{len(calls)} calls")


def every_fourth(placeholder):
    def case(line):
        calls = []
        for step in range(8):
            execute(line, names(step=step, params={}, call=lambda *params: calls.append(1)), n="4", **{placeholder: "call"})
        see(len(calls) == 2, f"{len(calls)} calls")
    return case


def fewer_synchronizations(line):
    own = names(losses=[], loss=jnp.ones(()))
    execute(line, own)
    see(float(sum(own["losses"])) == 1, "the sum")


def gradient_accumulation(line):
    optax = needs("optax")
    execute(line, names(optax=optax, sgd=optax.sgd(0.1)), optimizer="sgd")


def recomputation(line):
    function = execute(line, names(sin=jnp.sin), function="sin")
    see(abs(float(jax.grad(function)(0.0)) - 1) < 1e-6, "the gradient")


def mixed_precision(line):
    seen = []
    own = names(loss_of=lambda params, batch: seen.append(params["w"].dtype), params={"w": jnp.ones(2)}, batch=None)
    execute(line, own)
    see(seen == [jnp.bfloat16], str(seen))


def tensor_float32(line):
    execute(line, names())
    see(jax.config.jax_default_matmul_precision == "tensorfloat32", "the precision")
    jax.config.update("jax_default_matmul_precision", None)


def padded_sizes(line):
    flax = needs("flax")
    from flax import nnx
    layer = execute(line, names(flax=flax, rngs=nnx.Rngs(0)), rngs="rngs", **{"in": "4", "multiple of 8": "16"})
    see(layer.out_features % 8 == 0, "the width")


def fused_kernels(line):
    see(hasattr(execute(line, names(f=jnp.sin), function="f"), "lower"), "a compiled function")


cases = {
    "more_workers": loader, "parallel_reads": loader, "prefetch": loader, "batched_map": batched_map,
    "prefetch_to_device": prefetch_to_device, "one_device": one_device, "larger_batch": batch(larger_batch="4"),
    "smaller_batch": batch(smaller_batch="4"), "graph": jitted, "compiled_step": jitted, "kept_allocations": jitted,
    "fewer_callbacks": fewer_callbacks, "fewer_synchronizations": fewer_synchronizations, "fixed_shapes": batch(batch="4"),
    "gradient_accumulation": gradient_accumulation, "recomputation": recomputation, "no_offload": on_device,
    "mixed_precision": mixed_precision, "tensor_float32": tensor_float32, "padded_sizes": padded_sizes,
    "fused_kernels": fused_kernels, "rarer_evaluation": every_fourth("evaluation"), "rarer_saving": every_fourth("save"),
}
sys.exit(run("jax", cases))
