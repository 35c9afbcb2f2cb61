"""Workers live on from one epoch to the next."""
from ..imports import after
from . import judgement

NAME, FRAMEWORKS, CHANGES, CAUSES = "persistent_workers", ("torch",), "nothing", ("input_bound",)


def judge():
    loader = judgement.loader()
    if loader is None or not loader["num_workers"] or loader.get("kind") == "PyDataset":
        return judgement.no("no loader has workers")
    if loader["persistent_workers"]:
        return judgement.no("the workers are persistent")
    return judgement.yes("DataLoader(..., persistent_workers=True)", (loader["file"], loader["line"]))


def apply(_, done):
    def change(arguments):
        if arguments.get("num_workers"):
            arguments["persistent_workers"] = True
            done()

    after("torch", lambda torch: judgement.on_arguments(torch.utils.data.DataLoader, "__init__", change))
