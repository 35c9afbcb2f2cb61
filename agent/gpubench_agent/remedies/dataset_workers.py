"""Processes load the batches of a keras.utils.PyDataset; threads would wait for each other's interpreter lock."""
from ..imports import after
from . import judgement

NAME, FRAMEWORKS, CHANGES, CAUSES = "dataset_workers", ("keras",), "nothing", ("input_bound",)


def judge():
    loader = judgement.loader()
    if loader is None or loader.get("kind") != "PyDataset":
        return judgement.no("no PyDataset trains")
    if (loader["num_workers"] or 1) > 1:
        return judgement.no("the dataset has %d workers" % loader["num_workers"])
    if judgement.processors() < 2:
        return judgement.no("there is one processor")
    return judgement.yes("super().__init__(workers=%d, use_multiprocessing=True)" % judgement.workers(),
                         (loader["getitem_file"], loader["getitem_line"]), judgement.workers())


def apply(value, done):
    def change(arguments):
        dataset = arguments["x"]
        if getattr(dataset, "workers", 1) <= 1:
            dataset.workers = int(value or judgement.workers())
            dataset.use_multiprocessing = True
            done()

    def attach(_):
        from keras.src.trainers.data_adapters import py_dataset_adapter
        judgement.on_arguments(py_dataset_adapter.PyDatasetAdapter, "__init__", change)

    after("keras", attach)
