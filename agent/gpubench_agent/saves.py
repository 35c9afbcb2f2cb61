"""Functions that write checkpoints. One may call another, as a trainer calls `torch.save`: the inner time counts once."""
import sys

from . import facts, guard
from .clock import now
from .recorder import job


def time_saves(where, owner, name):
    def make(original):
        @guard.like(original)
        def save(*arguments, **keywords):
            before, start = job.saved_ns, now()
            result = original(*arguments, **keywords)
            try:
                job.saved(before, start, now(), sys._getframe(1))
            except Exception as error:
                facts.fault(where, error)
            return result
        return save

    guard.install(where, owner, name, make)
