"""A tf.function that sees a new shape is traced for any shape instead of once for each."""
from .. import facts
from ..imports import after
from . import judgement

NAME, FRAMEWORKS, CHANGES, CAUSES = "reduce_retracing", ("tensorflow",), "rounding", ("host_bound",)


def judge():
    traced = [fact for fact in facts.seen.get("compile", ()) if fact["what"].startswith("tf.function")]
    again = [fact for fact in traced if fact["count"] > 2]
    if not again:
        return judgement.no("no function was traced more than twice")
    return judgement.yes("@tf.function(reduce_retracing=True)", (again[-1]["file"], again[-1]["line"]))


def apply(_, done):
    def change(arguments):
        arguments["reduce_retracing"] = True
        done()

    after("tensorflow", lambda tf: judgement.on_arguments(tf, "function", change))
