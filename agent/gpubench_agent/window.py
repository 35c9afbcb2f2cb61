"""The framework's own profiler records a window of steps after the warm-up. Only one profiler can run in a process:
when the job starts its own, the window ends."""
import inspect
import os
import re
import sys

from . import counters, facts, guard
from .clock import now
from .recorder import IN_WINDOW, job

NOT_YET, RECORDS, WRITTEN, FAILED, NONE = range(5)
STEPS = 16  # unless GPUBENCH_AGENT_WINDOW says how many


class Torch:
    name = "torch.profiler"

    def start(self, folder):
        import torch
        from torch.profiler import ProfilerActivity, profile
        if getattr(torch.autograd, "_profiler_enabled", lambda: False)():
            raise RuntimeError("the job's own profiler runs")
        activities = [ProfilerActivity.CPU]
        if torch.cuda.is_initialized():
            activities.append(ProfilerActivity.CUDA)
        self.folder, self.path = folder, os.path.join(folder, "torch.pt.trace.json")
        keywords = {"acc_events": True} if "acc_events" in inspect.signature(profile.__init__).parameters else {}
        self.profile = profile(activities=activities, **keywords)  # without acc_events newer versions warn
        with Stderr(folder):
            self.profile.start()

    def stop(self):
        with Stderr(self.folder):
            self.profile.stop()
            self.profile.export_chrome_trace(self.path)
        self.profile = None
        return self.path


class TensorFlow:
    name = "tf.profiler"

    def start(self, folder):
        from tensorflow.python.profiler import profiler_v2
        self.folder = folder
        with Stderr(folder):
            profiler_v2.start(folder)

    def stop(self):
        from tensorflow.python.profiler import profiler_v2
        with Stderr(self.folder):
            profiler_v2.stop()
        return self.folder


class Jax:
    name = "jax.profiler"

    def start(self, folder):
        import jax
        self.folder = folder
        options = jax.profiler.ProfileOptions()
        options.python_tracer_level = 0  # it would record every call, the agent's too
        with Stderr(folder):
            jax.profiler.start_trace(folder, profiler_options=options)

    def stop(self):
        import jax
        with Stderr(self.folder):
            jax.profiler.stop_trace()
        return self.folder


class Stderr:
    """The profilers log to standard error from C++. Meanwhile it goes to a file; what other threads of the job wrote is
    passed on behind, less the profilers' lines."""
    LOG = re.compile(rb"^(USDT|STAGE|ERROR|WARNING|INFO|[WIE]\d{4}|\d{4}-\d\d-\d\d)[: ]"
                     rb".*(rofile|DeviceProperties|upti)|^$")

    def __init__(self, folder):
        self.path = os.path.join(folder, "stderr")

    def __enter__(self):
        if sys.stderr is not None:
            sys.stderr.flush()
        self.file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        self.saved = os.dup(2)
        os.dup2(self.file, 2)

    def __exit__(self, *_):
        os.dup2(self.saved, 2)
        os.close(self.saved)
        with os.fdopen(self.file, "rb") as file:
            file.seek(0)
            rest = b"".join(line for line in file
                            if not self.LOG.match(line) and b"before absl::InitializeLog" not in line)
        os.unlink(self.path)
        while rest:
            rest = rest[os.write(2, rest):]


PROFILERS = {"torch": Torch, "tensorflow": TensorFlow, "jax": Jax}


class Window:
    def __init__(self, setting):
        """`setting`: `AT,STEPS`, AT may be `auto`; `none`."""
        at, _, steps = (setting or "auto").partition(",")
        self.at = None if at == "auto" else -1 if at == "none" else int(at)
        self.count = max(1, int(steps or STEPS))
        self.state = NONE if at == "none" else NOT_YET
        self.due = self.profiler = None
        self.first = self.end = 0
        self.deferred = False  # torch: the mark lies inside of Optimizer.step, which must not be cut in two
        self.when_warm, self.when_done = [], []

    def set_state(self, state):
        self.state = state
        job.words[counters.WINDOW] = state

    def after_step(self, steps):
        if steps == 1:
            self.set_state(self.state)
        if not job.warm and job.judge_warm(now()):
            job.end_warm_up()
            self.account(lambda: [function() for function in self.when_warm])
        if self.state == NOT_YET and (job.warm if self.at is None else steps >= self.at):
            self.due = self.start
        elif self.state == RECORDS and steps >= self.end:
            self.due = self.stop
        if self.due is not None and not self.deferred:
            self.tick()

    def tick(self):
        """Does what is due, at the next event outside of a framework's call."""
        due, self.due = self.due, None
        if due is not None:
            self.account(due)

    def account(self, function):
        """Runs it on the window's account."""
        start = now()
        job.is_away = True
        try:
            function()
        except Exception as error:
            self.failed(error)
        finally:
            job.is_away = False
        took = now() - start
        job.words[counters.OWN_IN_WINDOW] += took
        job.spent_in_profiler(took)

    def start(self):
        profiler = PROFILERS.get(job.framework)
        if profiler is None:
            raise RuntimeError("no profiler for %s" % job.framework)
        self.folder = facts.stem() + ".window"
        os.makedirs(self.folder, exist_ok=True)
        self.profiler = profiler()
        self.profiler.start(self.folder)
        self.first, self.end = job.records, job.steps + self.count
        job.flags |= IN_WINDOW
        job.words[counters.WINDOW_FIRST] = job.records
        self.set_state(RECORDS)

    def stop(self):
        profiler, self.profiler = self.profiler, None
        job.flags &= ~IN_WINDOW
        job.words[counters.WINDOW_END] = job.records
        path = profiler.stop()
        facts.write("window", path=path, first=self.first, steps=job.steps - self.end + self.count,
                    profiler=profiler.name)
        self.set_state(WRITTEN)
        for function in self.when_done:
            function()

    def failed(self, error):
        self.profiler, self.due = None, None
        job.flags &= ~IN_WINDOW
        facts.write("window", failed="%s: %s" % (type(error).__name__, error))
        self.set_state(FAILED)
        for function in self.when_done:
            function()

    def give_way(self):
        """The job starts a profiler of its own, or ends."""
        if self.state == RECORDS and self.profiler is not None:
            start = now()
            self.due = self.stop
            self.tick()
            job.spent(start)


window = Window("none")


def gives_way_to(where, owner, name):
    """The job's own profiler, which begins with owner.NAME, takes precedence over the window."""
    guard.around(where, owner, name, before=lambda *_: window.give_way())


def open_window(setting):
    try:
        window.__init__(setting)
    except ValueError as error:
        facts.fault("GPUBENCH_AGENT_WINDOW", error)
        window.__init__("auto")
    job.after_step.append(window.after_step)
