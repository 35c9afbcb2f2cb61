"""Keras' layers compute in bfloat16; weights stay float32."""
from ..imports import after
from . import judgement

NAME, FRAMEWORKS, CHANGES, CAUSES = "policy", ("keras",), "rounding", ("precision_unused", "bandwidth_bound",
                                                                         "compute_bound", "memory_limit")


def judge():
    policy = judgement.model().get("policy")
    if policy != "float32":
        return judgement.no("the policy is %s" % policy)
    if not judgement.on_gpu() and not judgement.has_bfloat16():
        return judgement.no("this processor has no instructions for bfloat16")
    return judgement.yes("keras.config.set_dtype_policy(\"mixed_bfloat16\")  # before the model is made",
                         (judgement.model().get("file"), judgement.model().get("line")))


def apply(value, done):
    def attach(keras):
        keras.config.set_dtype_policy(value or "mixed_bfloat16")
        done()

    after("keras", attach)
