"""As many threads compute as there are processors, or as many as the value says; calls of the job that set another
number have no effect then."""
from .. import facts, guard
from ..imports import after
from . import judgement

NAME, FRAMEWORKS, CHANGES, CAUSES = "threads", ("torch",), "rounding", ("thread_contention", "compute_bound",
                                                                         "host_bound")


def judge():
    threads = [fact["value"] for fact in facts.seen.get("setting", ()) if fact["name"] == "threads"]
    count = judgement.processors()
    if judgement.on_gpu():
        return judgement.no("the job trains on a GPU")
    if not threads or threads[-1] == count:
        return judgement.no("%d threads compute on %d processors" % (count, count))
    return judgement.yes("torch.set_num_threads(%d)" % count, judgement.optimizer_at(), count)


def apply(value, done):
    def attach(torch):
        count = int(value or judgement.processors())
        torch.set_num_threads(count)

        guard.install("remedy threads", torch, "set_num_threads", lambda original: lambda _: original(count))
        done()

    after("torch", attach)
