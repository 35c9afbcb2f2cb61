"""Losses of gpubench and PyTorch after the same steps: a small GPT-2 on the bytes of a frozen text (Debian's copy of the
GNU General Public License 3), ResNet-18 on digits, the same batches in the same order. gpubench trains twice: from
PyTorch's weights, where the first steps must agree, and from its own of the same distributions, where seeds tell how far
apart losses may be: its mean loss must be at most the largest of PyTorch's. Both add Adam's epsilon where Keras does: a loss
that jumps in the first 50 steps makes the last ones differ by 0.2, as other weights do. Where PyTorch in float32 leaves its
own losses in float64 by more than the first steps may differ (in ResNet-18 a value that rounding moves across a relu's zero
changes all gradients below it by 0.3 %), gpubench must be as close to float64 as PyTorch."""

import argparse
import csv
import pathlib
import statistics
import sys
import tempfile

import models
import processes

FROM_TORCH = "gpubench, PyTorch's weights"
DOUBLE = "torch, float64"
FOLDER = pathlib.Path(__file__).resolve().parent
TEXT = pathlib.Path("/usr/share/common-licenses/GPL-3")
LAST = 0.1  # of the steps: their mean loss is compared
FIRST, TOLERANCE = 10, 1e-3  # so many steps agree so far, relative to the loss: rounding grows from step to step
CLOSE = 1.25  # gpubench's mean distance from float64 over PyTorch's: of tens of losses that differ by chance
# Net, options, batch, steps.
TRAININGS = {
    "gpt2_small": ({"vocabulary": 256, "context": 64, "length": 64, "width": 96, "depth": 2, "heads": 4, "dropout": 0}, 16, 400),
    "resnet18": ({"input_shape": [28, 28, 1], "classes": 10}, 32, 250),
}


def arguments_from(words):
    parser = argparse.ArgumentParser(prog="tests/peers/zoo/losses", description=__doc__)
    parser.add_argument("--models", default=",".join(TRAININGS), help="of " + ", ".join(TRAININGS))
    parser.add_argument("--seeds", type=int, default=5, help="trainings of each system")
    parser.add_argument("--steps", type=int, help="fewer steps, for a test of this comparison")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--csv", type=pathlib.Path, default=processes.ROOT / "build/peers/zoo_losses.csv",
                        help="the loss of each step")
    parser.add_argument("--torch-python", default=sys.executable, help=argparse.SUPPRESS)
    arguments = parser.parse_args(words)
    unknown = set(arguments.models.split(",")) - set(TRAININGS)
    if unknown:
        parser.error(f"unknown models: {', '.join(sorted(unknown))}; there are {', '.join(TRAININGS)}")
    return arguments


def batches(net, options, batch, steps):
    """Inputs and labels of all steps, one after the other."""
    import numpy
    import settings

    random = numpy.random.default_rng(1)
    if net == "gpt2_small":
        text = numpy.frombuffer(TEXT.read_bytes(), numpy.uint8).astype(numpy.int32)
        starts = random.integers(0, len(text) - options["length"] - 1, batch * steps)
        windows = text[starts[:, None] + numpy.arange(options["length"] + 1)]
        return windows[:, :-1].copy(), windows[:, 1:].astype(numpy.int64)
    images, labels = settings.digits("train")
    chosen = random.integers(0, len(images), batch * steps)
    return images[chosen].reshape(-1, *options["input_shape"]), labels[chosen].argmax(1)


def train(system, net, folder, options, batch, steps, seed, arguments):
    text = models.as_text(options)
    if not system.startswith("torch"):
        weights = "torch" if system == FROM_TORCH else "own"
        return processes.gpubench("zoo/gpubench_losses.lua", arguments.threads, seed=seed, net=net, folder=folder, options=text,
                                  batch=batch, weights=weights)["losses"]
    precision = ["float64", min(FIRST, steps)] if system == DOUBLE else ["float32", steps]
    words = [arguments.torch_python, FOLDER / "torch_losses.py", net, folder, text, batch, seed, arguments.threads, *precision]
    return processes.run(words, arguments.threads)["losses"]


def last_loss(losses):
    return statistics.fmean(losses[-max(1, int(LAST * len(losses))):])


def compare(net, arguments):
    """Rows for the file, and whether gpubench learns as well."""
    import numpy

    options, batch, steps = TRAININGS[net]
    steps, rows, apart = arguments.steps or steps, [], 0
    found = {DOUBLE: [], "torch": [], FROM_TORCH: [], "gpubench": []}
    from_double = {"torch": [], FROM_TORCH: []}
    with tempfile.TemporaryDirectory() as folder:
        for name, array in zip("xy", batches(net, options, batch, steps)):
            numpy.save(f"{folder}/{name}.npy", array)
        for seed in range(1, arguments.seeds + 1):
            curves = {}
            for system, losses in found.items():
                curves[system] = train(system, net, folder, options, batch, steps, seed, arguments)
                losses.append(last_loss(curves[system]))
                rows += [[net, system, seed, step, loss] for step, loss in enumerate(curves[system], 1)]
                print(f"peers: {net} {system}, seed {seed}: from {curves[system][0]:.4f} to {losses[-1]:.4f}", file=sys.stderr)
            apart = max([apart] + [abs(own / torch - 1) for own, torch in zip(curves[FROM_TORCH][:FIRST], curves["torch"])])
            for system, distances in from_double.items():
                distances += [abs(loss - double) for loss, double in zip(curves[system], curves[DOUBLE])]
    del found[DOUBLE]
    distance = {system: statistics.fmean(distances) for system, distances in from_double.items()}
    begins_alike = apart <= TOLERANCE or distance[FROM_TORCH] <= CLOSE * distance["torch"]
    held = begins_alike and statistics.fmean(found["gpubench"]) <= max(found["torch"])
    print(f"{net}: from PyTorch's weights the first {FIRST} losses differ by at most {apart:.1e} (bar {TOLERANCE:.0e}), in the "
          f"mean from PyTorch's in float64 by {distance[FROM_TORCH]:.1e}, PyTorch's in float32 by {distance['torch']:.1e}; after "
          f"{steps} steps of {batch}: " + "; ".join(f"{system} {statistics.fmean(losses):.4f} [{min(losses):.4f}, "
          f"{max(losses):.4f}]" for system, losses in found.items()) + f": {'met' if held else 'MISSED'}")
    return rows, held


def main():
    arguments = arguments_from(sys.argv[1:])
    if not arguments.torch_python:
        sys.exit("tests/peers/zoo/losses: PyTorch is not installed")
    results = [compare(net, arguments) for net in arguments.models.split(",")]
    arguments.csv.parent.mkdir(parents=True, exist_ok=True)
    with open(arguments.csv, "w", newline="") as file:
        csv.writer(file).writerows([["model", "system", "seed", "step", "loss"]] + [row for rows, _ in results for row in rows])
    return 0 if all(held for _, held in results) else 1


if __name__ == "__main__":
    sys.exit(main())
