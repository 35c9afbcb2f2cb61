"""Keras runs several steps in one call: callbacks and the progress bar see each n-th batch only."""
from ..imports import after
from . import judgement

NAME, FRAMEWORKS, CHANGES, CAUSES = "steps_per_execution", ("keras",), "nothing", ("host_bound", "launch_bound")
STEPS = 16


def judge():
    from ..keras_hooks import Fit
    from ..recorder import AT_CALLBACK, job
    model = judgement.model()
    if model.get("steps_per_execution", 1) > 1:
        return judgement.no("%d steps run in a call" % model["steps_per_execution"])
    if Fit.backend == "torch":
        return judgement.no("Keras' PyTorch backend runs one step after the other in any case")
    if model.get("run_eagerly"):
        return judgement.no("the model runs eagerly: see graph_execution")
    if any(kind == AT_CALLBACK and "batch" in found.co_name for kind, found, _, _ in job.sites):
        return judgement.no("the job's callbacks look at each batch")
    return judgement.yes("model.compile(..., steps_per_execution=%d)" % STEPS, judgement.compile_at(), STEPS)


def apply(value, done):
    def change(arguments):
        arguments["steps_per_execution"] = int(value or STEPS)
        done()

    after("keras", lambda keras: judgement.on_arguments(keras.Model, "compile", change))
