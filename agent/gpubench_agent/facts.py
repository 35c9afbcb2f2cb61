"""Facts: a line of JSON each, appended by one call of `write`. Writing never fails for the caller."""
import json
import os

from . import guard
from .clock import now, process_start

MAX_FAULTS = 100  # of one process

MAX_SEEN = 50  # of each kind

seen = {}  # fact: those of this process, for the remedies
_state = {"folder": None, "path": None, "faults": 0}


def open_in(folder):
    """Facts of this process go to a file of its own; called again in a forked child."""
    _state.update(folder=folder, path=None, faults=0)
    seen.clear()


def stem():
    """Path of this process' files without their ending."""
    return os.path.join(_state["folder"], "%d-%d" % (os.getpid(), process_start()))


def write(fact, **fields):
    if _state["folder"] is None:
        return
    known = seen.setdefault(fact, [])
    if len(known) < MAX_SEEN:
        known.append(fields)
    try:
        if _state["path"] is None:
            _state["path"] = stem() + ".facts"
        line = json.dumps(dict({"fact": fact, "at": now()}, **fields), default=repr) + "\n"
        descriptor = os.open(_state["path"], os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            os.write(descriptor, line.encode("utf-8", "replace"))
        finally:
            os.close(descriptor)
    except Exception:  # a full disk, no permission: the job goes on, and gpubench sees no fact
        pass


def fault(where, error):
    """Writes down a fault of the agent and takes the hook out in which it happened."""
    guard.disable(where)
    try:
        from .recorder import job
        _state["faults"] += 1
        job.count_fault()
        if _state["faults"] <= MAX_FAULTS:
            trace, lines = error.__traceback__, []
            while trace is not None:
                lines.append("%s:%d" % (trace.tb_frame.f_code.co_name, trace.tb_lineno))
                trace = trace.tb_next
            write("fault", where=where, error="%s: %s (%s)" % (type(error).__name__, error, ", ".join(lines[-4:])))
    except Exception:
        pass
