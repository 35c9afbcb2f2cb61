"""Looks at the main thread's stack some 60 times a second, for the time that no hook sees: the user's own code.

A sample belongs to the innermost line of the user's code, and to the line of the loop that trains: what the frames below
that line are says whether it runs a pass, the optimizer, or something else."""
import _thread
import sys

from . import code, counters, facts, guard
from .clock import now
from .recorder import AT_BACKWARD, AT_FORWARD, AT_OPTIMIZER, AT_OTHER, AT_OWN, AT_STACK, LEVEL_KERAS, job

PERIOD_S = 0.016
LAYER_CALLS = {"_call_impl", "_wrapped_call_impl", "_fn", "backward", "error_handler", "_eager_py_func", "apply_fn"}
WORKER_ENTRIES = {"_worker_loop", "_bootstrap"}
ELSEWHERE = "elsewhere"  # in what other hooks time: batches, callbacks, files
WAITS = {"wait", "__call__"}  # replacements of functions in C, which have no frame of their own


def activity_of(code_object):
    """What a frame below the loop that trains does, or None: it says nothing of it."""
    file, name, owner = code_object.co_filename, code_object.co_name, code.owners.get(code_object.co_filename)
    if owner is code.AGENT:
        # A step that is one function; a gradient, or a wait for the step, that is hooked. PyTorch's waits are short on
        # processors, and on a GPU nobody asks.
        if name == "__call__" or name in ("call", "wait") and job.framework != "torch":
            return AT_BACKWARD
        return ELSEWHERE if name == "_next_internal" or file.endswith("methods.py") else None
    if owner is not code.FRAMEWORK:
        return None
    if "/torch/utils/data/" in file or file.endswith("/torch/serialization.py"):
        return ELSEWHERE
    if "/torch/optim/" in file or "/torch/amp/" in file or file.endswith("/nn/utils/clip_grad.py") \
            or "/keras/src/optimizers/" in file:
        return AT_OPTIMIZER
    if "/torch/autograd/" in file and name == "backward" or file.endswith("/torch/_tensor.py") and name == "backward":
        return AT_BACKWARD
    return AT_FORWARD if name in LAYER_CALLS else None


class Sampler:
    def __init__(self):
        self.running = None
        self.activities = {}  # code object: its activity_of()

    def start(self, *_):
        """Of the main thread; called at each step, since a fork stops it."""
        if self.running is None:
            stop = _thread.allocate_lock()
            stop.acquire()
            self.running = stop, _thread.allocate_lock()
            self.running[1].acquire()
            _thread.start_new_thread(self.run, self.running)

    def stop(self):
        """Before a fork, which should see the threads that the job has without the agent; and at the end."""
        running, self.running = self.running, None
        if running is not None:
            running[0].release()
            running[1].acquire(True, 1.0)

    @guard.hide
    def run(self, stop, ended):
        try:
            last = now()
            while not stop.acquire(True, PERIOD_S):
                woken = now()
                self.sample(min(woken - last, 5 * int(PERIOD_S * 1e9)))
                last = woken
                job.words[counters.OWN] += now() - woken
        except Exception as error:
            facts.fault("sampler", error)
        finally:
            ended.release()

    def sample(self, duration):
        """The frames are dropped before anything that lets other threads run: what a frame keeps alive would be
        destroyed by this thread otherwise. So a file or a line that is new is looked up for the next sample."""
        if job.is_away:
            return
        job.words[counters.SAMPLES] += 1
        seen, news = self.look(sys._current_frames().get(job.thread))
        for file in news:
            code.owner(file)
        if seen is None or news:
            return
        user_code, line, place, activity = seen
        job.site(AT_STACK, user_code, line).add(1, duration, duration, job.records)
        if job.loop is not None and job.level < LEVEL_KERAS and job.evaluating is None and activity is not ELSEWHERE:
            job.site(activity, *place).add(1, duration, duration, job.records)
            if activity is AT_OTHER and place[0] is not user_code:
                job.site(AT_OWN, user_code, line).add(1, duration, duration, job.records)

    def activity(self, code_object):
        if code_object not in self.activities:
            self.activities[code_object] = activity_of(code_object)
        return self.activities[code_object]

    def look(self, frame):
        """((code object, line, (code object, line) in the loop, activity) or None, files whose owner is not known yet).
        Outside of the loop's function the innermost line counts. The agent's own code is nobody's: the interpreter lets
        this thread run where a function begins, and many that the main thread begins are hooks."""
        if frame is not None and code.owners.get(frame.f_code.co_filename) is code.AGENT \
                and frame.f_code.co_name not in WAITS:
            return None, []
        user, place, activity, depth, news = None, None, AT_OTHER, 0, []
        while frame is not None and depth < 80:
            owner = code.owners.get(frame.f_code.co_filename)
            if owner is None:
                news.append(frame.f_code.co_filename)
            elif owner is code.USER:
                user = user or frame
                if frame.f_code is job.loop:
                    place = frame.f_code, frame.f_lineno
                    break
            elif frame.f_code.co_name in WORKER_ENTRIES:
                break  # behind it lie the frames of the process that forked
            else:
                activity = self.activity(frame.f_code) or activity
            frame = frame.f_back
            depth += 1
        if user is None:
            return None, news
        place = place or (user.f_code, user.f_lineno)
        return (user.f_code, user.f_lineno, place, activity), news


sampler = Sampler()
