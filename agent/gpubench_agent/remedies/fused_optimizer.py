"""One kernel updates all weights."""
import inspect
import sys

from ..imports import after
from . import judgement

NAME, FRAMEWORKS, CHANGES, CAUSES = "fused_optimizer", ("torch",), "rounding", ("launch_bound", "host_bound",
                                                                                   "bandwidth_bound")
CLASSES = ("Adam", "AdamW", "SGD", "Adagrad")


def has_fused(torch, name):
    return "fused" in inspect.signature(getattr(torch.optim, name).__init__).parameters


def judge():
    model, torch = judgement.model(), sys.modules["torch"]
    name = model.get("optimizer")
    if "steps_per_execution" in model:
        return judgement.no("Keras updates the weights")
    if model.get("fused"):
        return judgement.no("the optimizer is fused")
    if name not in CLASSES or not has_fused(torch, name):
        return judgement.no("%s of this version of PyTorch has no fused kernel" % name)
    if not judgement.on_gpu() and judgement.version("torch") < (2, 4):
        return judgement.no("this version of PyTorch has fused optimizers on the GPU only")
    return judgement.yes("torch.optim.%s(..., fused=True)" % name, judgement.optimizer_at())


def apply(_, done):
    def change(arguments):
        if not arguments.get("foreach") and not arguments.get("differentiable"):
            arguments["fused"] = True
            done()

    def attach(torch):
        for name in CLASSES:
            if has_fused(torch, name):
                judgement.on_arguments(getattr(torch.optim, name), "__init__", change)

    after("torch", attach)
