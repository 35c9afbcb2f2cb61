"""Each worker of a DataLoader prepares more batches in advance, for batches that take unevenly long."""
from ..imports import after
from . import judgement

NAME, FRAMEWORKS, CHANGES, CAUSES = "prefetch_factor", ("torch",), "memory", ("input_bound",)
BATCHES = 4


def judge():
    loader = judgement.loader()
    if loader is None or not loader["num_workers"] or loader.get("kind") == "PyDataset":
        return judgement.no("no loader has workers")
    if (loader["prefetch_factor"] or 2) >= BATCHES:
        return judgement.no("the workers prepare %d batches each" % loader["prefetch_factor"])
    return judgement.yes("DataLoader(..., prefetch_factor=%d)" % BATCHES, (loader["file"], loader["line"]), BATCHES)


def apply(value, done):
    def change(arguments):
        if arguments.get("num_workers"):
            arguments["prefetch_factor"] = int(value or BATCHES)
            done()

    after("torch", lambda torch: judgement.on_arguments(torch.utils.data.DataLoader, "__init__", change))
