"""Remedies: what can be changed of a job from outside. A remedy is a file with

    NAME, FRAMEWORKS   the frameworks of which one must train
    CHANGES            what it changes of the results: `nothing`, `memory`, `rounding`, `learning`
    CAUSES             the findings that it can cure
    judge()            whether it applies to the job that runs, and the lines to write by hand (judgement.yes or .no)
    apply(value, done) changes the job; done() once it is in force

They are judged when the warm-up is over, from the facts that were written up to then."""
from importlib import import_module

from .. import facts

NAMES = ("workers", "persistent_workers", "prefetch_factor", "pin_memory", "compile", "compile_graphs", "autocast",
         "tf32", "channels_last", "cudnn_benchmark", "fused_optimizer", "set_to_none", "threads", "affinity",
         "ddp_buckets", "nccl_defaults", "tf_prefetch", "tf_cache", "tf_parallel_map", "tf_threads", "jit_compile",
         "graph_execution", "reduce_retracing", "steps_per_execution", "policy", "dataset_workers", "allocator")


def remedy(name):
    return import_module("gpubench_agent.remedies." + name)


def attached():
    """The frameworks that train: Keras and its backend, or the one below."""
    found = {fact["name"] for fact in facts.seen.get("framework", ()) if fact["name"] in ("lightning", "transformers")}
    from ..recorder import job
    found.add(job.framework)
    if any(fact["name"] == "keras" and fact["backend"] == job.framework for fact in facts.seen.get("framework", ())) \
            and any("steps_per_execution" in fact for fact in facts.seen.get("model", ())):
        found.add("keras")
    return found


def report():
    """A fact for each remedy that exists for what trains."""
    frameworks = attached()
    for name in NAMES:
        try:
            file = remedy(name)
            if not frameworks & set(file.FRAMEWORKS):
                continue
            facts.write("remedy", name=name, changes=file.CHANGES, causes=list(file.CAUSES), **file.judge())
        except Exception as error:
            facts.fault("remedy " + name, error)


def start(setting):
    """`setting`: NAME or NAME=VALUE, separated by commas; empty: only report."""
    from ..window import window
    if not setting:
        window.when_warm.append(report)
        return
    for part in setting.split(","):
        name, _, value = part.strip().partition("=")
        applied(name, value or None)


def applied(name, value):
    written = []

    def done(**fields):
        if not written:
            written.append(True)
            facts.write("remedy", name=name, value=value, applied=True, **fields)

    try:
        if name not in NAMES:
            raise ValueError("no such remedy")
        remedy(name).apply(value, done)
    except Exception as error:
        facts.write("remedy", name=name, value=value, applied=False, why_not="%s: %s" % (type(error).__name__, error))
