"""torch.compile whose kernels are launched as one CUDA graph."""
from . import compile as plain
from . import judgement

NAME, FRAMEWORKS, CHANGES, CAUSES = "compile_graphs", ("torch",), "rounding", ("launch_bound", "host_bound")
MODE = "reduce-overhead"


def judge():
    if not judgement.on_gpu():
        return judgement.no("the job trains on the CPU: there are no launches to record")
    answer = plain.judge()
    if answer["applies"]:
        answer.update(value=MODE, lines=["model.compile(mode=%r)  # before the optimizer is made" % MODE])
    return answer


def apply(_, done):
    plain.apply(MODE, done)
