"""Matrix products and convolutions of float32 run on the tensor cores, with 10 bits of mantissa."""
import sys

from ..imports import after
from . import judgement

NAME, FRAMEWORKS, CHANGES, CAUSES = "tf32", ("torch",), "rounding", ("precision_unused", "compute_bound")


def judge():
    if not judgement.on_gpu():
        return judgement.no("the job trains on the CPU")
    torch = sys.modules["torch"]
    if torch.cuda.get_device_capability()[0] < 8:
        return judgement.no("this GPU has no TF32")
    if torch.get_float32_matmul_precision() != "highest":
        return judgement.no("TF32 is on")
    return judgement.yes("torch.set_float32_matmul_precision(\"high\")", judgement.optimizer_at())


def apply(_, done):
    def attach(torch):
        torch.set_float32_matmul_precision("high")
        done()

    after("torch", attach)
