"""Workers load the batches of a DataLoader that has none."""
from ..imports import after
from . import judgement

NAME, FRAMEWORKS, CHANGES, CAUSES = "workers", ("torch",), "nothing", ("input_bound",)


def judge():
    loader = judgement.loader()
    if loader is None:
        return judgement.no("no DataLoader trains")
    if loader.get("kind") == "PyDataset":
        return judgement.no("Keras loads the data: see dataset_workers")
    if loader["num_workers"]:
        return judgement.no("the loader has %d workers" % loader["num_workers"])
    if loader.get("is_iterable"):
        return judgement.no("each worker of an IterableDataset would give all samples, unless the dataset divides them")
    if judgement.processors() < 2:
        return judgement.no("there is one processor")
    return judgement.yes("DataLoader(..., num_workers=%d, persistent_workers=True)" % judgement.workers(),
                         (loader["file"], loader["line"]), judgement.workers())


def apply(value, done):
    workers = int(value or judgement.workers())

    def change(arguments):
        if not arguments.get("num_workers") and "__iter__" not in vars(type(arguments.get("dataset"))):
            arguments.update(num_workers=workers, persistent_workers=True)
            done()

    after("torch", lambda torch: judgement.on_arguments(torch.utils.data.DataLoader, "__init__", change))
