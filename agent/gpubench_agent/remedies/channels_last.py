"""Weights of convolutions lie with the channels innermost, as cuDNN and oneDNN want them."""
from . import judgement

NAME, FRAMEWORKS, CHANGES, CAUSES = "channels_last", ("torch",), "rounding", ("compute_bound", "bandwidth_bound",
                                                                                 "copy_bound")


def judge():
    model = judgement.model()
    if "steps_per_execution" in model:
        return judgement.no("Keras makes the model")
    if model.get("channels_last") is None:
        return judgement.no("the model has no convolution over images")
    if model["channels_last"]:
        return judgement.no("the weights lie so already")
    return judgement.yes(["model = model.to(memory_format=torch.channels_last)  # before the optimizer is made",
                          "images = images.to(memory_format=torch.channels_last)"], judgement.optimizer_at())


def apply(_, done):
    def change(_, model, __):
        import torch
        model.to(memory_format=torch.channels_last)
        done()

    judgement.on_model(change)
