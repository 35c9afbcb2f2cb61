"""Steps of jobs that have no trainer: calls of compiled functions (`tf.function`, `jax.jit`). The function in which a
gradient was traced is the training step; the others are part of it, or an evaluation if they come in between only."""
import os
import sys
import weakref

from . import code, facts, signature, sync
from .clock import now
from .recorder import AT_COMPILE, COMPILE, COMPILED, COMPUTE, LEVEL_CALL, job


class Function:
    """What is known of a compiled function."""

    def __init__(self, name, python_function):
        self.name = name
        self.code = code.code_of(python_function)
        self.trains = False
        self.calls = self.traced = 0
        self.last_step = -1
        self.given = {}  # when it was compiled last


class Calls:
    def __init__(self, framework, kind):
        self.framework, self.kind = framework, kind
        self.depth = 0
        self.current = None
        self.result = None  # of the last training step, where the framework runs ahead
        self.marker = None
        self.line = None  # of the gradients of a loop that runs eagerly
        self.compile_ns = 0  # in the call that runs
        self.functions = weakref.WeakKeyDictionary()
        self.training = set()  # code of functions that train: a loop may compile the same code again and again

    def enter(self, function):
        """Before an outermost call."""
        start = now()
        if not function.calls:  # hashing code takes microseconds
            function.trains = function.trains or function.code in self.training
        self.current, self.compile_ns = function, 0
        if job.level > LEVEL_CALL:
            pass  # a trainer says when it evaluates
        elif function.trains:
            job.end_evaluation(job.evaluated_until or start)
            job.evaluated_until = 0
        elif job.steps > 1 and not job.evaluated_until and function.last_step not in (job.steps, job.steps - 1):
            job.begin_evaluation(start)
        job.spent(start)

    def leave(self, function, start, end, compiled, arguments, keywords):
        """After an outermost call."""
        function.calls += 1
        function.last_step = job.steps
        self.current = None
        duration = end - start
        if compiled:
            self.report_compile(function, self.compile_ns or duration, signature.of(arguments, keywords))
            job.times[COMPILE] += self.compile_ns or duration
            job.flags |= COMPILED
        job.times[COMPUTE] += max(0, duration - (self.compile_ns if compiled and self.compile_ns else 0)
                                  - (duration if compiled and not self.compile_ns else 0))
        if job.level > LEVEL_CALL:
            pass
        elif job.evaluating is not None and not function.trains:
            job.evaluation_step(end)
            job.evaluated_until = end
        elif function.trains and self.is_mark(function):
            sync.budget.new_step()
            job.mark(LEVEL_CALL, "%s %s" % (self.kind, function.name), framework=self.framework)
            job.note_loop(sys._getframe(2))
        job.spent(end)

    def is_mark(self, function):
        """The first training function is the mark, until another one alone is called."""
        marker = self.marker
        if marker is None or marker.last_step < job.steps - 20 or job.steps == 0 \
                or marker.code is function.code is not None:
            self.marker = function
        return self.marker is function

    def report_compile(self, function, duration, given):
        function.traced += 1
        difference, function.given = signature.difference(function.given, given), given
        if function.code is not None and code.owner(function.code.co_filename) is code.USER:
            job.site(AT_COMPILE, function.code, None, function.name).add(1, duration, duration, job.records)
        if function.traced <= 50:
            facts.write("compile", what=self.kind + " " + function.name, step=job.records, count=function.traced,
                        file=os.path.abspath(function.code.co_filename) if function.code else None,
                        line=function.code.co_firstlineno if function.code else None, seconds=duration / 1e9, **difference)

    def gradient(self, frame):
        """A gradient is taken: within a function that is traced, or by a loop that runs eagerly."""
        if self.depth:
            if self.current is not None:
                self.current.trains = True
                if self.current.code is not None:
                    self.training.add(self.current.code)
            return
        if job.level > LEVEL_CALL:
            return
        frame = code.user_frame(frame)
        if frame is not None:
            line = (frame.f_code, frame.f_lineno)
            self.line = self.line or line
            if line == self.line:
                sync.budget.new_step()
                job.mark(LEVEL_CALL, "gradient " + code.name_of(frame.f_code), framework=self.framework)
                job.note_loop(frame)
