"""torch.compile for the model, in place; the value is a mode."""
import os
import shutil

from . import judgement

NAME, FRAMEWORKS, CHANGES = "compile", ("torch",), "rounding"
CAUSES = ("launch_bound", "host_bound", "bandwidth_bound", "compute_bound")


def judge():
    model = judgement.model()
    if judgement.version("torch") < (2, 2):
        return judgement.no("PyTorch %s has no Module.compile" % (".".join(map(str, judgement.version("torch")))))
    if "steps_per_execution" in model:
        return judgement.no("Keras calls the model: see jit_compile")
    if model.get("compiled"):
        return judgement.no("the model is compiled")
    if model.get("class") is None:
        return judgement.no("the module that the optimizer trains is not known")
    if not judgement.on_gpu() and not shutil.which(os.environ.get("CXX", "g++")):
        return judgement.no("there is no C++ compiler, which torch.compile needs on the CPU")
    return judgement.yes("model.compile()  # before the optimizer is made", judgement.optimizer_at())


def apply(mode, done):
    def change(_, __, parts):
        for part in parts:
            part.compile(mode=mode) if mode else part.compile()
        done()

    judgement.on_model(change)
