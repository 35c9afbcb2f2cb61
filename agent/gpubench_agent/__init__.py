"""The agent inside of a Python job under `gpubench watch` and `gpubench tune`: README.md in the folder above."""
import atexit
import os
import sys

_chained = []  # the `sitecustomize` behind ours, once known


def _role(command):
    if any(part in command for part in ("resource_tracker", "forkserver", "compile_worker")):
        return "helper"
    if "torch.distributed.run" in command or "torch.distributed.launch" in command or "/torchrun" in command:
        return "launcher"
    return "worker" if "multiprocessing" in command and "spawn" in command else "job"


def _hello(role=None):
    from . import facts
    with open("/proc/self/cmdline", "rb") as file:
        command = file.read().decode("utf-8", "replace")
    facts.write("process", argv=command.split("\0")[:-1], executable=sys.executable, python=sys.prefix,
                version=sys.version.split()[0], role=role or _role(command))


def chained(path):
    """The `sitecustomize` that is run behind this one."""
    from . import facts
    facts.write("chained", path=path)


def _attach(name):
    """Attaches to a framework that has been imported: by the module of ours of that name."""
    def attach(module):
        from importlib import import_module

        from .recorder import job
        job.open()  # without a place for the counters nothing is hooked
        import_module("gpubench_agent." + name).attach(module)
    return attach


def _in_child():
    from . import facts
    from .recorder import job
    facts.open_in(job.folder)
    job.forget()
    job.is_child = True


def _at_exit():
    from . import counters
    from .recorder import job
    from .sampler import sampler
    from .window import window
    sampler.stop()
    if job.words is not None:
        window.give_way()
        from .clock import now
        job.words[counters.ENDED] = now()


def start():
    from . import facts, guard, imports, remedies, sampler, window
    from .recorder import job
    job.folder = os.environ["GPUBENCH_AGENT"]
    facts.open_in(job.folder)
    _hello()
    window.open_window(os.environ.get("GPUBENCH_AGENT_WINDOW", ""))
    job.after_step.append(sampler.sampler.start)
    os.register_at_fork(before=guard.guarded("before a fork", sampler.sampler.stop),
                        after_in_child=guard.guarded("in a forked child", _in_child))
    atexit.register(guard.guarded("at the end", _at_exit))
    guard.clean_uncaught()
    remedies.start(os.environ.get("GPUBENCH_AGENT_REMEDIES", ""))
    for name in ("torch", "tensorflow", "keras", "jax"):
        imports.after(name, _attach(name + "_hooks"))
    for name in ("lightning.pytorch", "pytorch_lightning", "transformers.trainer_callback"):
        imports.after(name, _attach("trainer_hooks"))
