"""OpenMP's threads stay on their processors. Read when the framework is loaded, so it is set in the environment
before."""
import os

from . import judgement

NAME, FRAMEWORKS, CHANGES, CAUSES = "affinity", ("torch",), "nothing", ("compute_bound", "host_bound")


def judge():
    loader = judgement.loader()
    if judgement.on_gpu():
        return judgement.no("the job trains on a GPU")
    if os.environ.get("OMP_PROC_BIND") or os.environ.get("GOMP_CPU_AFFINITY"):
        return judgement.no("the environment sets it")
    if loader is not None and loader["num_workers"]:
        return judgement.no("the loader's workers would all be bound to the main thread's processor")
    if judgement.processors() < 4:
        return judgement.no("there are only %d processors" % judgement.processors())
    return judgement.yes("OMP_PROC_BIND=close python ...  # in the environment")


def apply(_, done):
    os.environ["OMP_PROC_BIND"] = "close"
    done()
