"""What remedies share: answers, what the facts say of the job, and ways to change arguments from outside."""
import inspect
import os
import re
import sys

from .. import facts, guard
from ..recorder import job


def yes(lines, at=(None, None), value=None):
    """It applies; `lines`: what to write by hand at (file, line)."""
    return {"applies": True, "why_not": None, "value": value, "file": at[0], "line": at[1],
            "lines": [lines] if isinstance(lines, str) else list(lines)}


def no(why):
    return {"applies": False, "why_not": why, "value": None, "lines": [], "file": None, "line": None}


def processors():
    """Of this rank: the ranks of a machine share its processors."""
    ranks = os.environ.get("LOCAL_WORLD_SIZE", "1")
    return max(1, len(os.sched_getaffinity(0)) // (int(ranks) if ranks.isdigit() and int(ranks) else 1))


def workers():
    """How many load batches: as many as processors; more where loading mostly waits, for storage or a network."""
    duration, used = job.loading
    waits = duration and used < duration / 2
    return min(8, int(processors() / max(used / duration, 1 / 8)) if waits else processors())


def loader():
    """The fact of the first loader that trains, or None."""
    for fact in facts.seen.get("loader", ()):
        if not fact.get("is_evaluation"):
            return fact
    return None


def model():
    found = facts.seen.get("model", ())
    return found[-1] if found else {}


def device():
    for fact in reversed(facts.seen.get("framework", ())):
        if fact.get("device"):
            return fact["device"]
    return "cpu"


def on_gpu():
    return device() not in ("cpu", "CPU")


def optimizer_at():
    return model().get("optimizer_file"), model().get("optimizer_line")


def compile_at():
    return model().get("compile_file"), model().get("compile_line")


def version(module):
    """(2, 12) of `2.12.1+cu130`."""
    return tuple(int(part) for part in re.findall(r"\d+", sys.modules[module].__version__)[:2])


def has_bfloat16():
    """Whether the processor multiplies in bfloat16; without that it is slower than float32."""
    try:
        with open("/proc/cpuinfo") as file:
            flags = next(line for line in file if line.startswith(("flags", "Features")))
        return any(flag in flags.split() for flag in ("avx512_bf16", "amx_bf16", "bf16"))
    except (OSError, StopIteration):
        return False


def stages():
    """Stages of the datasets that are read, the training's first."""
    found = facts.seen.get("dataset", ())
    return found[0]["stages"] if found else []


def on_arguments(owner, name, change):
    """change(arguments) may alter the arguments of owner.NAME, by their names, before each call."""
    signature = inspect.signature(getattr(owner, name))

    def make(original):
        @guard.like(original)
        def call(*arguments, **keywords):
            try:
                bound = signature.bind(*arguments, **keywords)
                change(bound.arguments)
                arguments, keywords = bound.args, bound.kwargs
            except TypeError:  # the job's own mistake, which the call will report
                pass
            except Exception as error:
                facts.fault("remedy at " + name, error)
            return original(*arguments, **keywords)
        return call

    guard.install("remedy at %s.%s %d" % (getattr(owner, "__name__", owner), name, id(change)), owner, name, make)


def on_model(change):
    """change(optimizer, model, parts) once an optimizer is made; `parts`: the modules that are called, which are the
    children of a LightningModule."""
    from .. import torch_model

    def known(optimizer, module):
        parts = list(module.children()) if hasattr(module, "training_step") else [module]
        change(optimizer, module, parts)

    torch_model.models.when_known.append(known)
