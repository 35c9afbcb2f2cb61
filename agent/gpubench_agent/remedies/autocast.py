"""The forward pass computes in bfloat16 where PyTorch holds that to be safe; weights stay float32."""
from .. import guard
from . import judgement

NAME, FRAMEWORKS, CHANGES, CAUSES = "autocast", ("torch",), "rounding", ("precision_unused", "bandwidth_bound",
                                                                            "compute_bound", "memory_limit")


def judge():
    model = judgement.model()
    if "steps_per_execution" in model:
        return judgement.no("Keras calls the model: see policy")
    if model.get("dtype") != "float32":
        return judgement.no("the weights are %s" % model.get("dtype"))
    if model.get("class") is None:
        return judgement.no("the module that the optimizer trains is not known")
    if not judgement.on_gpu() and not judgement.has_bfloat16():
        return judgement.no("this processor has no instructions for bfloat16")
    return judgement.yes("with torch.autocast(\"%s\", dtype=torch.bfloat16):  # around forward pass and loss"
                         % judgement.device(), (model.get("file"), model.get("line")))


def to_float(value, torch):
    if isinstance(value, torch.Tensor):
        return value.float() if value.dtype is torch.bfloat16 else value
    if isinstance(value, dict):
        return type(value)((key, to_float(item, torch)) for key, item in value.items())
    if type(value) in (list, tuple):
        return type(value)(to_float(item, torch) for item in value)
    return value


def apply(_, done):
    def change(optimizer, _, parts):
        import torch
        device = optimizer.param_groups[0]["params"][0].device.type

        def wrapped(forward):
            def call(*arguments, **keywords):
                with torch.autocast(device, dtype=torch.bfloat16):
                    result = forward(*arguments, **keywords)
                return to_float(result, torch)
            return guard.like(forward)(call)

        for part in parts:
            part.forward = wrapped(part.forward)
        done()

    judgement.on_model(change)
