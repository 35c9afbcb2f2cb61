"""Times methods of the user's classes: callbacks, and what loads samples for Keras."""
import sys
import threading

from . import code, facts, guard
from .clock import now
from .recorder import AT_CALLBACK, AT_LOAD, CALLBACK, job, section

_timed = set()  # (class, method)


def time_methods(kind_of_site, cls, names, all_code=False):
    """Times the methods that `cls` or its base classes define in the user's code; `all_code`: in libraries too, whose
    site is the line of the user's code that led there."""
    for owner in cls.__mro__[:-1]:
        if owner.__name__ in ("Callback", "TrainerCallback"):
            break  # the frameworks' own, which do nothing
        for name in names:
            function = vars(owner).get(name)
            if (owner, name) in _timed or not hasattr(function, "__code__"):
                continue
            users = code.owner(function.__code__.co_filename) is code.USER
            if users or all_code:
                _timed.add((owner, name))
                guard.install("%s.%s" % (owner.__name__, name), owner, name,
                              lambda original, users=users: timed(original, kind_of_site, users, cls.__name__))


def timed(original, kind_of_site, users, name=None):
    found = original.__code__
    where = code.name_of(found)

    def count(start, end, frame, known):
        main = threading.get_ident() == job.thread
        if main and kind_of_site == AT_CALLBACK:
            job.times[CALLBACK] += max(0, end - start - (section.recorded() - known))
        if job.words is None:
            return
        if users:
            job.site(kind_of_site, found, None).add(1, end - start, end - start, job.records)
        elif main:
            job.at(kind_of_site, frame, end - start, function=name)

    @guard.like(original)
    def call(*arguments, **keywords):
        known = before = None
        try:
            known = section.recorded()
            before = job.loads() if kind_of_site == AT_LOAD else None
        except Exception as error:
            facts.fault(where, error)
        start = now()
        result = original(*arguments, **keywords)
        end = now()
        try:
            job.loaded(end - start, before)
            if known is not None:
                count(start, end, sys._getframe(1), known)
            job.spent_here(end)
        except Exception as error:
            facts.fault(where, error)
        return result
    return call
