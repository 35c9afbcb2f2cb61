"""A map runs for several elements at once; their order stays."""
from ..imports import after
from . import judgement
from .pipeline import users_map

NAME, FRAMEWORKS, CHANGES, CAUSES = "tf_parallel_map", ("tensorflow", "keras"), "nothing", ("input_bound",)


def judge():
    stage = users_map(judgement.stages())
    if stage is None:
        return judgement.no("no map is in the pipeline")
    if stage["name"] == "ParallelMap":
        return judgement.no("the map runs in parallel")
    if stage.get("python"):
        return judgement.no("the map is a Python function, which holds the interpreter's lock")
    if judgement.processors() < 2:
        return judgement.no("there is one processor")
    return judgement.yes("dataset.map(..., num_parallel_calls=tf.data.AUTOTUNE)", (stage["file"], stage["line"]))


def apply(value, done):
    def change(arguments):
        if arguments.get("num_parallel_calls") is None:
            arguments["num_parallel_calls"] = int(value or -1)
            done()

    after("tensorflow", lambda tf: judgement.on_arguments(tf.data.Dataset, "map", change))
