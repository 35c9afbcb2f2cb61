"""zero_grad drops the gradients instead of filling them with zeros; the default from PyTorch 2.0 on."""
from ..imports import after
from . import judgement

NAME, FRAMEWORKS, CHANGES, CAUSES = "set_to_none", ("torch",), "nothing", ("launch_bound", "host_bound",
                                                                              "bandwidth_bound")


def judge():
    if judgement.version("torch") >= (2, 0):
        return judgement.no("it is the default of this version of PyTorch")
    return judgement.yes("optimizer.zero_grad(set_to_none=True)", judgement.optimizer_at())


def apply(_, done):
    def change(arguments):
        arguments["set_to_none"] = True
        done()

    def attach(torch):
        judgement.on_arguments(torch.optim.Optimizer, "zero_grad", change)
        judgement.on_arguments(torch.nn.Module, "zero_grad", change)

    after("torch", attach)
