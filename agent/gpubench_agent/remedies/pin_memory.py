"""Batches lie in page-locked memory and are copied to the GPU without waiting."""
from .. import guard
from ..imports import after
from . import judgement

NAME, FRAMEWORKS, CHANGES, CAUSES = "pin_memory", ("torch",), "memory", ("copy_bound", "input_bound")


def judge():
    loader = judgement.loader()
    if not judgement.on_gpu():
        return judgement.no("the job trains on the CPU: nothing is copied")
    if loader is None:
        return judgement.no("no DataLoader trains")
    if loader["pin_memory"]:
        return judgement.no("the loader pins its batches")
    return judgement.yes(["DataLoader(..., pin_memory=True)", "batch.to(device, non_blocking=True)"],
                         (loader["file"], loader["line"]))


def apply(_, done):
    def pin(arguments):
        arguments["pin_memory"] = True
        done()

    def attach(torch):
        judgement.on_arguments(torch.utils.data.DataLoader, "__init__", pin)
        for name in ("to", "cuda"):
            def make(original):
                @guard.like(original)
                def copy(self, *arguments, **keywords):
                    if not self.is_cuda and self.is_pinned():
                        keywords.setdefault("non_blocking", True)
                    return original(self, *arguments, **keywords)
                return copy

            guard.install("remedy Tensor." + name, torch.Tensor, name, make)

    after("torch", attach)
