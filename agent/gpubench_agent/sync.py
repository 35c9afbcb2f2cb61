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

    def next_stride(self):
        self.turn += 1
        self.stride = self.skip = STRIDES[self.turn % len(STRIDES)]
        return self.stride


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
        def call(self, *arguments, **keywords):
            if budget.exact > 0:
                weight = 1
                budget.exact -= 1
            else:
                budget.skip -= 1
                if budget.skip > 0:
                    if warns and self.requires_grad:
                        return as_line_of(sys._getframe(1))(original, self, arguments, keywords)
                    return original(self, *arguments, **keywords)
                weight = budget.stride or 1
                budget.next_stride()
            frame = sys._getframe(1)
            if code.owner(frame.f_code.co_filename) is not code.USER or threading.get_ident() != job.thread:
                return original(self, *arguments, **keywords)
            start = now()
            if warns and self.requires_grad:
                result = as_line_of(frame)(original, self, arguments, keywords)
            else:
                result = original(self, *arguments, **keywords)
            try:
                end = now()
                job.times[SYNC] += (end - start) * weight
                job.at(AT_SYNC, frame, end - start, weight)
                job.times[AGENT] += now() - end + 2 * WRAPPER_NS
            except Exception as error:
                facts.fault(where, error)
            return result
        return call

    guard.install(where, owner, name, make)


def hook_function(module, name):
    """A function that waits: torch.cuda.synchronize, jax.block_until_ready."""
    def after(_, __, ___, start, end):
        if code.owner(sys._getframe(2).f_code.co_filename) is code.USER:
            job.times[SYNC] += end - start
            job.at(AT_SYNC, sys._getframe(2), end - start)

    guard.timed(module.__name__ + "." + name, module, name, after)
