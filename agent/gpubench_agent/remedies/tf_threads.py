"""The pipeline has threads of its own, and its operations use one each, instead of sharing the step's."""
from .. import facts
from . import judgement
from .pipeline import on_iterated, users_map

NAME, FRAMEWORKS, CHANGES, CAUSES = "tf_threads", ("tensorflow", "keras"), "nothing", ("input_bound", "host_bound")


def judge():
    stage = users_map(judgement.stages())
    if stage is None:
        return judgement.no("no map is in the pipeline")
    if stage.get("python"):
        return judgement.no("the map is a Python function, which holds the interpreter's lock")
    if (facts.seen["dataset"][0].get("options") or {}).get("private_threadpool_size"):
        return judgement.no("the pipeline has threads of its own")
    return judgement.yes(["options = tf.data.Options()", "options.threading.private_threadpool_size = %d"
                          % judgement.processors(), "options.threading.max_intra_op_parallelism = 1",
                          "dataset = dataset.with_options(options)"], (stage["file"], stage["line"]))


def apply(value, done):
    def change(dataset):
        import tensorflow as tf
        options = tf.data.Options()
        options.threading.private_threadpool_size = int(value or judgement.processors())
        options.threading.max_intra_op_parallelism = 1
        return dataset.with_options(options)

    on_iterated(change, done)
