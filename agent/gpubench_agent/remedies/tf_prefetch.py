"""The pipeline prepares the next batches while the step computes."""
from . import judgement
from .pipeline import on_iterated

NAME, FRAMEWORKS, CHANGES, CAUSES = "tf_prefetch", ("tensorflow", "keras"), "memory", ("input_bound",)


def judge():
    stages = judgement.stages()
    if not stages:
        return judgement.no("no tf.data pipeline is read")
    if any(stage["name"] == "Prefetch" for stage in stages[-2:]):
        return judgement.no("the pipeline prefetches")
    last = stages[-1]
    return judgement.yes("dataset = dataset.prefetch(tf.data.AUTOTUNE)", (last["file"], last["line"]))


def apply(_, done):
    on_iterated(lambda dataset: dataset.prefetch(-1), done)
