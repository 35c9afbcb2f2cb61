"""Replaces functions of frameworks so that a fault of the agent never reaches the job: a hook that fails once is taken
out again, and a fact says why.

Each replacement is a function of the agent's own with its own `try`. Its code object carries a file name that holds
"importlib" and "_bootstrap": `warnings` skips such frames when it looks for the line to blame, so that a warning of a
framework names the user's line as it would without the agent."""
import functools
import sys

from .clock import now

AGENT_FILE = "<gpubench_agent, as importlib._bootstrap>"

_installed = {}  # name of the hook: what takes it out


def hide(function):
    """Marks the code of what the job, a framework or Python calls as the agent's: a function that cannot fail by itself,
    since all that it calls of the agent is within a `try`. Returns the function."""
    function.__code__ = function.__code__.replace(co_filename=AGENT_FILE)
    return function


def like(original):
    """functools.wraps, also for originals whose attributes cannot be copied (methods made in C++)."""
    def decorate(function):
        try:
            return functools.wraps(original)(function)
        except TypeError:
            return function
    return decorate


def install(where, owner, name, make):
    """Sets owner.NAME to make(original). Does nothing if there is no such attribute; returns whether it was set."""
    from . import facts
    try:
        original = getattr(owner, name)
        own = name in vars(owner)
        static = isinstance(vars(owner).get(name), staticmethod)
        replacement = hide(make(original))
        setattr(owner, name, staticmethod(replacement) if static else replacement)
    except AttributeError:
        return False
    except Exception as error:
        facts.fault(where, error)
        return False

    def undo():
        if getattr(owner, name, None) is replacement:
            if own:
                setattr(owner, name, staticmethod(original) if static else original)
            else:
                delattr(owner, name)

    _installed[where] = undo
    return True


def disable(where):
    undo = _installed.pop(where, None)
    if undo is not None:
        try:
            undo()
        except Exception:  # it stays, with its own `try`
            pass


def guarded(where, function):
    """`function` that becomes a fact when it fails, and is not called again then."""
    from . import facts
    broken = []

    def call(*arguments):
        if not broken:
            try:
                function(*arguments)
            except Exception as error:
                broken.append(error)
                facts.fault(where, error)

    return hide(call)


def around(where, owner, name, before=None, after=None):
    """Around each call of owner.NAME: before(arguments, keywords) and after(arguments, keywords, result, start, end).
    What they take is the agent's own time; when one fails, the call goes on and both are taken out."""
    from . import facts
    from .recorder import job

    def make(original):
        @like(original)
        def call(*arguments, **keywords):
            start = now()
            if before is not None:
                try:
                    before(arguments, keywords)
                    job.spent_here(start)
                except Exception as error:
                    facts.fault(where, error)
                start = now()
            result = original(*arguments, **keywords)
            if after is not None:
                end = now()
                try:
                    after(arguments, keywords, result, start, end)
                    job.spent_here(end)
                except Exception as error:
                    facts.fault(where, error)
            return result
        return call

    return install(where, owner, name, make)


def without_agent(traceback):
    """The traceback less the frames of replacements."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename == AGENT_FILE:
        traceback = traceback.tb_next
    last = traceback
    while last is not None and last.tb_next is not None:
        if last.tb_next.tb_frame.f_code.co_filename == AGENT_FILE:
            last.tb_next = last.tb_next.tb_next
        else:
            last = last.tb_next
    return traceback


def clean(error):
    """Takes the agent's frames out of the tracebacks of an exception, its causes and its contexts."""
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        error.__traceback__ = without_agent(error.__traceback__)
        error = error.__cause__ or error.__context__


def clean_uncaught():
    """The message of an uncaught exception shows no frame of the agent: `sys.excepthook` until the job sets its own."""
    def excepthook(kind, error, traceback):
        try:
            clean(error)
            traceback = without_agent(traceback)
        except Exception:
            pass
        sys.__excepthook__(kind, error, traceback)

    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = hide(excepthook)
