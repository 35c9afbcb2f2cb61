"""GPUBENCH_AGENT_PROVE: after the window, N steps run on batches that were kept in memory, which shows how fast the
job is without its input. The job's results are void then."""
import os

from . import counters, facts, guard
from .recorder import ON_KEPT, job
from .window import NONE, window

KEEP = 4  # batches
MOST_IN_A_STEP = 64  # a loop that takes more without a step does not train, and would never end


class Proof:
    def __init__(self):
        self.wanted = 0
        self.kept = []
        self.left = 0
        self.turn = 0
        self.since_step = 0
        self.keeping = False
        self.active = False

    def ask(self, setting):
        try:
            self.wanted = int(setting or 0)
        except ValueError as error:
            facts.fault("GPUBENCH_AGENT_PROVE", error)
        self.keeping = self.wanted > 0
        if self.keeping:
            window.when_done.append(self.begin)
            job.after_step.append(self.after_step)
            if window.state == NONE:
                window.when_warm.append(self.begin)

    def keep(self, batch):
        self.kept = self.kept[-KEEP + 1:] + [batch]

    def begin(self):
        self.keeping = False
        if self.kept:
            self.active, self.left = True, self.wanted + 1  # the step that runs now had its batch from the loader
        else:
            facts.write("prove", failed="no loader whose batches could be kept")

    @guard.hide
    def batch(self):
        """Raises StopIteration where the job takes batches without training."""
        self.turn += 1
        self.since_step += 1
        if self.since_step > MOST_IN_A_STEP:
            try:
                self.end()
                facts.write("prove", failed="a loop takes batches and does not train")
            except Exception as error:
                facts.fault("the end of the proof", error)
            raise StopIteration
        return self.kept[self.turn % len(self.kept)]

    def after_step(self, _):
        if self.active:
            self.since_step = 0
            self.left -= 1
            job.words[counters.PROVE] = 1
            job.flags |= ON_KEPT
            if self.left <= 0:
                self.end()

    def end(self):
        job.words[counters.PROVE] = 2
        self.active = False
        self.kept = []
        job.flags &= ~ON_KEPT


proof = Proof()


def start():
    if not proof.wanted:
        proof.ask(os.environ.get("GPUBENCH_AGENT_PROVE"))
