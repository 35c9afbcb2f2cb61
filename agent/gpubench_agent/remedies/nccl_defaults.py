"""NCCL chooses transports and algorithms itself: variables that forbid the fast ones often stay behind from a search for an
error."""
import os

from . import judgement

NAME, FRAMEWORKS, CHANGES, CAUSES = "nccl_defaults", ("torch", "jax"), "rounding", ("communication_bound",)
CHOICES = ("NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL", "NCCL_SHM_DISABLE", "NCCL_IB_DISABLE", "NCCL_NET_GDR_LEVEL",
           "NCCL_NET", "NCCL_ALGO", "NCCL_PROTO", "NCCL_MAX_NCHANNELS", "NCCL_NVLS_ENABLE", "NCCL_CUMEM_ENABLE")


def chosen():
    return [name for name in CHOICES if os.environ.get(name)]


def judge():
    if not judgement.on_gpu():
        return judgement.no("the job trains on the CPU, without NCCL")
    if not chosen():
        return judgement.no("the environment leaves NCCL its choice")
    return judgement.yes("env %s python ...  # in the environment" % " ".join("-u " + name for name in chosen()))


def apply(_, done):
    for name in chosen():
        del os.environ[name]
    done()
