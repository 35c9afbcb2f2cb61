"""XLA compiles Keras' training step."""
from ..imports import after
from . import judgement

NAME, FRAMEWORKS, CHANGES = "jit_compile", ("keras",), "rounding"
CAUSES = ("launch_bound", "host_bound", "bandwidth_bound", "compute_bound")


def judge():
    from ..keras_hooks import Fit
    model = judgement.model()
    if Fit.backend == "torch":
        return judgement.no("not tried on Keras' PyTorch backend")
    if model.get("jit_compile"):
        return judgement.no("the step is compiled")
    if model.get("run_eagerly"):
        return judgement.no("the model runs eagerly: see graph_execution")
    return judgement.yes("model.compile(..., jit_compile=True)", judgement.compile_at())


def apply(_, done):
    def change(arguments):
        if not arguments.get("run_eagerly"):
            arguments["jit_compile"] = True
            done()

    after("keras", lambda keras: judgement.on_arguments(keras.Model, "compile", change))
