"""Elements are kept in memory behind the map that makes them; from the second epoch on they are only read."""
from .. import guard
from ..imports import after
from . import judgement
from .pipeline import users_map

NAME, FRAMEWORKS, CHANGES, CAUSES = "tf_cache", ("tensorflow", "keras"), "memory", ("input_bound",)


def judge():
    stages = judgement.stages()
    stage = users_map(stages)
    names = [one["name"] for one in stages]
    if stage is None:
        return judgement.no("no map is in the pipeline")
    if any("Cache" in name for name in names):
        return judgement.no("the pipeline caches")
    before = names[:stages.index(stage)]
    if any(name in ("Shuffle", "Repeat", "ShuffleAndRepeat") for name in before):
        return judgement.no("the map stands behind %s: the cache would repeat one order, or never end"
                            % " and ".join(name for name in before if name in ("Shuffle", "Repeat")))
    if stage.get("random"):
        return judgement.no("the map draws random numbers: each epoch would see the same ones")
    if stage.get("python"):
        return judgement.no("whether the Python function draws random numbers cannot be seen; by hand, .cache() "
                            "behind it")
    return judgement.yes("dataset = dataset.map(...).cache()", (stage["file"], stage["line"]))


def apply(_, done):
    def make(original):
        @guard.like(original)
        def map(self, *arguments, **keywords):
            done()
            return original(self, *arguments, **keywords).cache()
        return map

    after("tensorflow", lambda tf: guard.install("remedy tf_cache", tf.data.Dataset, "map", make))
