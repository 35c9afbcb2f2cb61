"""Calls by the user's code that wait for the device or copy to the host: `.item()`, `.cpu()`, `float(loss)`.

Frameworks call some of them themselves (Adam reads its step count from each parameter's state), so the caller
decides. After the first calls one in about 16 is counted, with that weight; the first ones of each step always
are."""
import sys
import threading

from . import code, facts, guard
from .clock import now
from .recorder import AGENT, AT_SYNC, SYNC, WRAPPER_NS, job

EXACT_AT_FIRST, EXACT_A_STEP = 100, 8
STRIDES = (11, 19, 13, 23, 17, 13, 16)  # of mean 16, uneven, so that a loop over 16 parameters is seen everywhere


class Budget:
    def __init__(self):
        self.exact = EXACT_AT_FIRST
        self.skip = self.stride = self.turn = 0

    def new_step(self):
        self.exact = max(self.exact, EXACT_A_STEP)

    def weight_of_call(self):
        """For how many calls this one counts; 0: it is not counted."""
        if self.exact > 0:
            self.exact -= 1
            return 1
        self.skip -= 1
        if self.skip > 0:
            return 0
        weight = self.stride or 1
        self.turn += 1
        self.stride = self.skip = STRIDES[self.turn % len(STRIDES)]
        return weight


budget = Budget()
_thunks = {}


def as_line_of(frame):
    """A function that calls another one from the user's line: a warning from C++ names the Python line that runs."""
    key = (frame.f_code, frame.f_lineno)
    thunk = _thunks.get(key)
    if thunk is None:
        source = "\n" * (frame.f_lineno - 1) + "lambda f, s, a, k: f(s, *a, **k)"
        thunk = _thunks[key] = eval(compile(source, frame.f_code.co_filename, "eval"), frame.f_globals)
    return thunk


def hook(kind, owner, name, warns=False):
    """`warns`: on an object that requires a gradient, the call warns from C++."""
    where = kind + "." + name

    def make(original):
        @guard.like(original)
        def wait(self, *arguments, **keywords):
            weight, warned = 0, None
            frame = sys._getframe(1)
            try:
                weight = budget.weight_of_call()
                if weight and (code.owner(frame.f_code.co_filename) is not code.USER
                               or threading.get_ident() != job.thread):
                    weight = 0
                elif warns and self.requires_grad:
                    warned = as_line_of(frame)
            except Exception as error:
                facts.fault(where, error)
            start = now() if weight else 0
            result = (original(self, *arguments, **keywords) if warned is None else
                      warned(original, self, arguments, keywords))
            if not weight:
                if job.evaluated_until:  # a wait for an evaluation is part of it
                    job.evaluated_until = now()
                return result
            try:
                end = now()
                if job.evaluated_until:
                    job.evaluated_until = end
                job.times[SYNC] += (end - start) * weight
                job.at(AT_SYNC, frame, end - start, weight)
                job.times[AGENT] += now() - end + 2 * WRAPPER_NS
            except Exception as error:
                facts.fault(where, error)
            return result
        return wait

    guard.install(where, owner, name, make)


def hook_function(module, name):
    """A function that waits: torch.cuda.synchronize, jax.block_until_ready."""
    def after(_, __, ___, start, end):
        if code.owner(sys._getframe(2).f_code.co_filename) is code.USER:
            job.times[SYNC] += end - start
            job.at(AT_SYNC, sys._getframe(2), end - start)

    guard.around(module.__name__ + "." + name, module, name, after=after)
