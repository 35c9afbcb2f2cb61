"""Lightning's and Hugging Face's trainers: the time in callbacks. Their steps are those of the torch optimizer."""
import sys

from . import facts, guard, methods, saves
from .recorder import AT_CALLBACK, job


def names_of(base):
    return tuple(name for name in dir(base) if name.startswith("on_"))


def attach_lightning(lightning):
    def made(arguments, _, __, ___, ____):
        base = lightning.Callback
        for callback in arguments[0].callbacks:
            name = type(callback).__module__.split(".")[0]
            if name not in ("lightning", "pytorch_lightning"):
                methods.time_methods(AT_CALLBACK, type(callback), names_of(base))
        job.expected = max(job.expected, arguments[0].max_steps or 0)

    guard.around("lightning.Trainer", lightning.Trainer, "__init__", after=made)
    saves.time_saves("Trainer.save_checkpoint", lightning.Trainer, "save_checkpoint")
    facts.write("framework", name="lightning", version=lightning.__version__, backend="torch", device=None,
                devices=None)


def attach_transformers(callback):
    def added(arguments, _, __, ___, ____):
        for one in arguments[0].callbacks:
            methods.time_methods(AT_CALLBACK, type(one), names_of(callback.TrainerCallback))

    guard.around("CallbackHandler.__init__", callback.CallbackHandler, "__init__", after=added)
    guard.around("CallbackHandler.add_callback", callback.CallbackHandler, "add_callback", after=added)
    facts.write("framework", name="transformers", version=sys.modules["transformers"].__version__, backend="torch",
                device=None, devices=None)


def attach(module):
    if module.__name__.startswith("transformers"):
        attach_transformers(module)
    else:
        attach_lightning(module)
