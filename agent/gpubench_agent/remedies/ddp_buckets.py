"""DistributedDataParallel exchanges gradients in larger buckets, without copying them."""
from ..imports import after
from . import judgement

NAME, FRAMEWORKS, CHANGES, CAUSES = "ddp_buckets", ("torch",), "memory", ("communication_bound",)


def judge():
    if not judgement.model().get("ddp"):
        return judgement.no("the model is not in DistributedDataParallel")
    return judgement.yes("DistributedDataParallel(model, bucket_cap_mb=100, gradient_as_bucket_view=True)",
                         judgement.optimizer_at())


def apply(_, done):
    def change(arguments):
        arguments.update(bucket_cap_mb=100, gradient_as_bucket_view=True)
        done()

    after("torch", lambda torch: judgement.on_arguments(torch.nn.parallel.DistributedDataParallel, "__init__", change))
