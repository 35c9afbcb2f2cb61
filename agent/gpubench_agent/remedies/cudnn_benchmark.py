"""cuDNN measures several algorithms of each convolution and keeps the fastest."""
import sys

from ..imports import after
from . import judgement

NAME, FRAMEWORKS, CHANGES, CAUSES = "cudnn_benchmark", ("torch",), "rounding", ("compute_bound",)


def judge():
    if not judgement.on_gpu():
        return judgement.no("the job trains on the CPU")
    if judgement.model().get("channels_last") is None:
        return judgement.no("the model has no convolution over images")
    if sys.modules["torch"].backends.cudnn.benchmark:
        return judgement.no("it is on")
    return judgement.yes("torch.backends.cudnn.benchmark = True", judgement.optimizer_at())


def apply(_, done):
    def attach(torch):
        torch.backends.cudnn.benchmark = True
        done()

    after("torch", attach)
