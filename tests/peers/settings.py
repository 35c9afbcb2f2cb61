"""What is compared: models, batches, lengths, and the digits that every system trains on."""

import gzip
import json
import os
import pathlib
import struct
import time

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Steps of one timed epoch: one to four seconds in Keras, so that what fit does once an epoch hardly counts.
EPOCH_STEPS = {("M1", 32): 1875, ("M1", 1): 4000, ("M2", 128): 200, ("M3", 64): 300}
HIDDEN = {"M1": [128], "M2": [1024, 1024, 1024]}
CLASSES = 10
LEARNING_RATE = 0.001
SAMPLE_TRAIN = 8000


def read_idx(path):
    """An IDX file of bytes, plain or gzip."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rb") as file:
        _, rank = struct.unpack(">HxB", file.read(4))
        shape = struct.unpack(f">{rank}I", file.read(4 * rank))
        return numpy.frombuffer(file.read(), numpy.uint8).reshape(shape)


def _folders():
    if os.environ.get("GPUBENCH_DATA"):
        base = pathlib.Path(os.environ["GPUBENCH_DATA"])
        yield base
        yield base / "mnist"
    yield ROOT / "data/mnist"


def _pair(folder, prefix):
    found = [next(iter(sorted(folder.glob(f"{prefix}-{kind}*"))), None) for kind in ("images-idx3", "labels-idx1")]
    return None if None in found else [read_idx(path) for path in found]


def digits(split):
    """Images [n, 784] in [0, 1] and one-hot labels [n, 10] as float32, the same digits that gpubench takes."""
    for folder in _folders():
        full = _pair(folder, "train" if split == "train" else "t10k")
        test = _pair(folder, "t10k")
        if full is None and test is None:
            continue
        if full is None or _pair(folder, "train") is None:
            part = slice(None, SAMPLE_TRAIN) if split == "train" else slice(SAMPLE_TRAIN, None)
            full = [array[part] for array in test]
        images, labels = full
        images = images.reshape(len(images), -1).astype(numpy.float32) / numpy.float32(255)
        return images, numpy.eye(CLASSES, dtype=numpy.float32)[labels]
    raise SystemExit("peers: no digits: set GPUBENCH_DATA to the folder of the MNIST files")


def epoch_examples(model, batch, available):
    steps = min(EPOCH_STEPS.get((model, batch), 100), available // batch)
    return steps * batch


class EpochTimer:
    """Collects the times of whole epochs after a warm-up epoch, until there are enough of them."""

    def __init__(self, steps, seconds, minimum=1):
        self.steps, self.seconds, self.minimum = steps, seconds, minimum
        self.epochs = []
        self.warm = False

    def begin(self):
        self._started = time.perf_counter()

    def end(self):
        elapsed = time.perf_counter() - self._started
        if self.warm:
            self.epochs.append(elapsed / self.steps)
        self.warm = True

    def enough(self):
        return len(self.epochs) >= self.minimum and sum(self.epochs) * self.steps >= self.seconds

    def result(self, **facts):
        return {"step_time_s": float(numpy.median(self.epochs)), "step_time_min_s": min(self.epochs),
                "epochs": self.epochs, "steps_per_epoch": self.steps, **facts}


def print_result(result):
    """The last line of a peer's output is its result."""
    print(json.dumps(result), flush=True)
