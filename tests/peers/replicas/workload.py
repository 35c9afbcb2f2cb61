"""What replicas train: models with their batches per replica, the steps of a timed epoch, each replica's digits, and how their processes end."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import settings  # noqa: E402

# Batches of one replica; compare.py has them too.
BATCHES = {"M1": [32, 64], "M3": [64]}
# Steps of one timed epoch: about a second or more in the slowest system, so that what starts an epoch hardly counts.
EPOCH_STEPS = {"M1": 400, "M3": 60}


def epoch_steps(model, global_batch, available):
    return min(EPOCH_STEPS[model], available // global_batch)


def digits(model, batch, replicas):
    """Images and one-hot labels of one epoch of all replicas, and its steps."""
    images, labels = settings.digits("train")
    steps = epoch_steps(model, batch * replicas, len(images))
    examples = steps * batch * replicas
    return images[:examples], labels[:examples], steps


class RateTimer(settings.EpochTimer):
    """An EpochTimer that tells examples per second of all replicas."""

    def __init__(self, steps, seconds, global_batch):
        super().__init__(steps, seconds)
        self.global_batch = global_batch

    def result(self, **facts):
        result = super().result(**facts)
        return result | {"examples_per_s": self.global_batch / result["step_time_s"]}


def leave_together(end):
    """Ends this process once all have come to the barrier `end`: one that takes its group of gloo down while another is
    still on its way out aborts the other, now and then."""
    sys.stdout.flush()
    end.wait()
    os._exit(0)
