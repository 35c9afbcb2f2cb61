"""How remedies of tf.data change a pipeline from outside: where it is read, or at each map."""
from .. import facts, guard
from ..imports import after


def on_iterated(change, done):
    """A dataset is replaced by change(dataset) where it is read from Python or given to Keras."""
    def attach(_):
        from tensorflow.python.data.ops import iterator_ops

        def make(original):
            @guard.like(original)
            def __init__(self, dataset=None, *arguments, **keywords):
                if dataset is not None:
                    try:
                        dataset = change(dataset)
                        done()
                    except Exception as error:
                        facts.fault("remedy of tf.data", error)
                original(self, dataset, *arguments, **keywords)
            return __init__

        guard.install("remedy of tf.data %d" % id(change), iterator_ops.OwnedIterator, "__init__", make)

    after("tensorflow", attach)


def users_map(stages):
    """The stage of the first map that the user's code has made, or None. Keras' own maps have the line of `fit`."""
    for stage in stages:
        if stage["name"] in ("Map", "ParallelMap") and stage.get("function") and "Adapter" not in stage["function"]:
            return stage
    return None
