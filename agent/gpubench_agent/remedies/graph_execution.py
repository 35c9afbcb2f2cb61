"""Keras' training step runs as a graph instead of Python line by line."""
from .. import guard
from ..imports import after
from . import judgement

NAME, FRAMEWORKS, CHANGES, CAUSES = "graph_execution", ("keras",), "rounding", ("host_bound", "launch_bound")


def judge():
    if not judgement.model().get("run_eagerly"):
        return judgement.no("the model runs as a graph")
    return judgement.yes("model.compile(..., run_eagerly=False)", judgement.compile_at())


def apply(_, done):
    def change(arguments):
        if arguments.get("run_eagerly"):
            arguments["run_eagerly"] = False
            done()

    def eagerly(original):
        def run_functions_eagerly(_):
            done()
            return original(False)
        return run_functions_eagerly

    after("keras", lambda keras: judgement.on_arguments(keras.Model, "compile", change))
    after("tensorflow", lambda tf: guard.install("remedy eagerly", tf.config, "run_functions_eagerly", eagerly))
