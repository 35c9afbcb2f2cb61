"""What the hooks of all frameworks write into: the times of the step that runs, its record when it ends, and sites.

`job` is the one recorder of a process. A mark of a step has a level: Keras' batches stand above a torch optimizer,
and that above a jitted function; when a higher level appears, the records of the lower one are forgotten, since they
marked something else (Keras on JAX jits its step, Keras on PyTorch has an optimizer)."""
import os
import resource
import threading
import time

from . import code, counters, facts
from .clock import now, scheduled

# Indices of a step's record.
WAIT, SYNC, CALLBACK, COMPILE, EVALUATION, SAVE, AGENT, TAKEN, COMPUTE, LOAD = 2, 3, 4, 5, 6, 7, 8, 9, 10, 13
TRAINING_STEP, EVALUATION_STEP = 1, 2
IN_WINDOW, COMPILED, FIRST_OF_EPOCH, SAVED, ON_KEPT = 256, 512, 1024, 2048, 4096
# Kinds of sites.
AT_SYNC, AT_CALLBACK, AT_LOAD, AT_BATCH, AT_SAVE, AT_COMPILE, AT_STACK, AT_PYTHON, AT_EVALUATION = range(1, 10)
# Lines of the loop that trains, by what they do.
AT_OTHER, AT_FORWARD, AT_BACKWARD, AT_OPTIMIZER, AT_OWN = range(10, 15)
# Levels of marks.
LEVEL_CALL, LEVEL_OPTIMIZER, LEVEL_KERAS = 1, 2, 3

USE_EVERY = 8  # steps: what the thread has used is asked in the first of them, and stands in all
WRAPPER_NS = 250  # of a hook before its first clock and after its last one; tests/agent measures it


class Job:
    def __init__(self):
        self.folder = None
        self.loaded_at = now()
        self.is_child = False  # made by fork
        self.after_step = []  # called with the number of training steps, outside of the step's record
        self.forget()

    def forget(self):
        """State of a process that has recorded nothing; also of a forked child, whose files are its own."""
        self.counters = self.words = self.marker = self.kept = self.evaluating = self.evaluation_site = None
        self.sites = {}
        self.times = [0] * 16
        self.inside = self.profiler = 0  # not the hook's own since the last `spent`; in the profiler since the last record
        self.flags = self.level = self.steps = self.records = self.first_mark = self.expected = 0
        self.last_durations, self.used = [], (0, 0)
        self.last_end = now()
        self.warm = self.is_away = False  # away: in the profiler's start, stop and export
        self.framework = None  # whose profiler records the window
        self.loop = None  # code of the user that marks steps
        self.saved_ns = 0  # in all
        self.evaluated_until = 0  # the last call of an evaluation in a loop without a trainer, or wait for it; 0: none
        self.settle = None  # of a framework that runs ahead: waits for the steps that are on their way
        self.loading = [0, 0]  # in this process: nanoseconds with a processor or waiting, and those with one
        self.thread = threading.get_ident()

    def open(self):
        """Makes the counters of this process, before its first event. Raises if there is no place for them."""
        if self.counters is None:
            self.counters = counters.Counters(facts.stem() + ".counters", self.loaded_at,
                                              counters.STEPS_OF_CHILD if self.is_child else counters.STEPS)
            self.words = self.counters.words
            with open("/proc/self/cmdline", "rb") as command:
                self.counters.write_text(counters.SCRIPT_AT, script_of(command.read().decode("utf-8", "replace")))
        return self.counters

    def spent(self, since):
        """The agent has worked since then, and before: time of its own."""
        self.times[AGENT] += now() - since + WRAPPER_NS - self.inside
        self.inside = 0

    def spent_here(self, since):
        """The same, of a hook that other threads may call."""
        if threading.get_ident() == self.thread:
            self.spent(since)

    def spent_in_profiler(self, duration):
        """The profiler's start, stop or export, within a hook that calls `spent` behind it."""
        self.times[AGENT] += duration
        self.profiler += duration
        self.inside += duration

    def loads(self):
        """A batch is about to be loaded in this thread: what loaded() takes, while the remedies have not been judged."""
        return None if self.warm else scheduled()

    def loaded(self, duration, before):
        if before is not None:
            ran, delayed = scheduled()
            self.loading[0] += duration - (delayed - before[1])
            self.loading[1] += ran - before[0]

    def flush_own(self):
        """For processes without steps."""
        (self.counters or self.open()).words[counters.OWN] += self.times[AGENT]
        self.times[AGENT] = 0

    def count_fault(self):
        if self.words is not None:
            self.words[counters.FAULTS] += 1

    # Sites

    def site(self, kind, code_object, line, function=None):
        """`line` None: where the function begins."""
        key = (kind, code_object, line, function)
        site = self.sites.get(key)
        if site is None:
            line = code_object.co_firstlineno if line is None else line
            site = self.sites[key] = counters.Site(self.counters or self.open(), kind,
                                                   function or code.name_of(code_object),
                                                   os.path.abspath(code_object.co_filename), line)
        return site

    def at(self, kind, frame, duration, times=1, function=None):
        """Counts a call at the innermost line of the user's code; `frame`: where to begin."""
        frame = code.user_frame(frame)
        if frame is not None:
            self.site(kind, frame.f_code, frame.f_lineno, function).add(times, duration * times, duration, self.records)

    def saved(self, before, start, end, frame):
        """A checkpoint was written; `before`: saved_ns when that began."""
        duration = end - start - (self.saved_ns - before)
        self.saved_ns = before + end - start
        self.times[SAVE] += duration
        self.flags |= SAVED
        if self.words is not None:
            self.at(AT_SAVE, frame, duration)
        self.spent_here(end)

    # Steps

    def mark(self, level, what, flags=0, batches=None, framework=None):
        """A training step has ended. The hook that calls it accounts for what it takes."""
        start = now()
        if level < self.level:
            return False
        if level > self.level:
            self.begin_level(level, what)
        self.framework = framework or self.framework
        self.thread = threading.get_ident()
        self.end_evaluation(start)
        if batches is not None:
            self.times[TAKEN] = batches
        self.record(TRAINING_STEP | flags, start)
        self.steps += 1
        if self.steps == 1:
            self.first_mark = start
        for function in list(self.after_step):
            try:
                function(self.steps)
            except Exception as error:
                self.after_step.remove(function)
                facts.fault("after a step", error)
        return True

    def note_loop(self, frame):
        """Whose function trains: it calls the optimizer, or the jitted step."""
        if self.loop is None or self.steps % 64 == 0:
            user = code.user_frame(frame)
            self.loop = user.f_code if user is not None else None

    def begin_level(self, level, what):
        words = self.open().words
        for counter in (counters.RECORDS, counters.TRAINING, counters.BATCHES, counters.SITES_SINCE):
            words[counter] = 0
        self.level, self.steps, self.records, self.warm, self.loop = level, 0, 0, False, None
        self.counters.write_text(counters.MARK_AT, what)

    def record(self, kind, end):
        times = self.times
        times[0] = end
        times[1] = kind | self.flags
        if self.records % USE_EVERY == 0:  # each asks the kernel
            self.used = time.thread_time_ns(), resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw
        times[11:13] = self.used
        own = max(0, times[AGENT] - self.profiler)
        self.profiler = 0
        self.counters.write_step(times)
        words = self.words
        words[counters.OWN_IN_WINDOW if self.flags & IN_WINDOW else counters.OWN] += own
        if kind & 255 == TRAINING_STEP:
            words[counters.BATCHES] += times[TAKEN]
            if not self.warm:
                self.last_durations = self.last_durations[-9:] + [end - self.last_end - times[EVALUATION]]
        self.last_end = end
        self.records += 1
        self.times = [0] * 16
        self.flags &= IN_WINDOW | ON_KEPT

    # Evaluation between training steps: records of its own, and its duration in the training step's record.

    def begin_evaluation(self, start, frame=None):
        if self.evaluating is None:
            start = self.settled_at(start)
            self.evaluating, self.kept, self.times = start, self.times, [0] * 16
            self.evaluation_site = None
            frame = code.user_frame(frame) if frame is not None else None
            if frame is not None:
                self.evaluation_site = (frame.f_code, frame.f_lineno)

    def settled_at(self, start):
        """When the steps that a framework which runs ahead has taken are done: an evaluation would wait for them."""
        if self.settle is None:
            return start
        self.settle()
        end = now()
        self.times[COMPUTE] += end - start
        self.inside += end - start  # a hook that calls `spent` behind it has not worked meanwhile
        return end

    def evaluation_step(self, end):
        if self.evaluating is not None and self.counters is not None:
            self.record(EVALUATION_STEP, end)

    def end_evaluation(self, end, happened=True):
        """`happened` False: it was training after all, or nothing was evaluated."""
        if self.evaluating is None:
            return
        duration, behind = end - self.evaluating, self.times  # behind the last evaluation step
        self.evaluating, self.times = None, self.kept
        for field in range(WAIT, LOAD + 1):
            self.times[field] += behind[field]
        if not happened:
            return
        self.times[EVALUATION] += duration
        if self.evaluation_site is not None:
            self.site(AT_EVALUATION, *self.evaluation_site).add(1, duration, duration, self.records)

    # The warm-up

    def judge_warm(self, end):
        """Whether the warm-up is over. `expected` is the least number of steps that the job will run, 0 if unknown:
        short jobs have their window too."""
        steps, passed = self.steps, (end - self.first_mark) / 1e9
        limit = max(2, self.expected // 4) if self.expected else 20
        if steps < min(10, limit):
            return steps >= 4 and passed > 20
        return steps >= limit or passed > 20 or (passed >= 2 and self.settled())

    def settled(self):
        before, behind = sorted(self.last_durations[-10:-5]), sorted(self.last_durations[-5:])
        return len(before) == 5 and 0.8 < behind[2] / max(1, before[2]) < 1.25

    def end_warm_up(self):
        """Sites count from here on."""
        self.warm = True
        self.words[counters.SITES_SINCE] = self.records
        for site in self.sites.values():
            site.clear()


class Section:
    """Time since an event that no other field of the step's record has: it goes to forward and backward passes."""

    def __init__(self):
        self.start, self.known = now(), 0

    def open(self):
        self.start, self.known = now(), self.recorded()

    def recorded(self):
        return sum(job.times[WAIT:TAKEN]) + job.times[COMPUTE]

    def close(self, end):
        job.times[COMPUTE] += max(0, end - self.start - (self.recorded() - self.known))


def script_of(command_line):
    """The script of a command line as /proc has it: the first argument that is no option, or the module behind -m."""
    arguments = command_line.split("\0")[1:]
    for place, argument in enumerate(arguments):
        if argument == "-m" and place + 1 < len(arguments):
            return arguments[place + 1]
        if argument == "-c":
            return "-c"
        if argument and not argument.startswith("-") and arguments[place - 1] not in ("-W", "-X"):
            return os.path.abspath(argument) if os.path.exists(argument) else argument
    return ""


job = Job()
section = Section()
