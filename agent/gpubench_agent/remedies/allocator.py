"""Freed memory is kept for the next step instead of being given back to the system."""
import ctypes
import os
import platform
import sys

from . import judgement

NAME, FRAMEWORKS, CHANGES = "allocator", ("torch", "tensorflow", "jax"), "memory"
CAUSES = ("host_bound", "memory_limit")
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD = -1, -2, -3
KEPT = 1 << 30
ON_GPU = {"torch": ("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"),
          "tensorflow": ("TF_GPU_ALLOCATOR", "cuda_malloc_async")}


def judge():
    from ..recorder import job
    if judgement.on_gpu():
        name, value = ON_GPU.get(job.framework, (None, None))
        if name is None or os.environ.get(name):
            return judgement.no("the framework keeps the GPU's memory, or the environment says how")
        return judgement.yes("%s=%s python ...  # in the environment" % (name, value))
    if platform.libc_ver()[0] != "glibc" or "LD_PRELOAD" in os.environ:
        return judgement.no("the allocator is not glibc's")
    if "MALLOC_MMAP_THRESHOLD_" in os.environ or "GLIBC_TUNABLES" in os.environ:
        return judgement.no("the environment sets it")
    return judgement.yes("MALLOC_MMAP_THRESHOLD_=%d MALLOC_TRIM_THRESHOLD_=%d python ...  # in the environment"
                         % (KEPT, KEPT))


def apply(_, done):
    for name, value in ON_GPU.values():
        os.environ.setdefault(name, value)
    if sys.platform.startswith("linux") and platform.libc_ver()[0] == "glibc":
        libc = ctypes.CDLL(None)
        libc.mallopt(M_MMAP_THRESHOLD, KEPT)
        libc.mallopt(M_TRIM_THRESHOLD, (1 << 31) - 1)
    done()
