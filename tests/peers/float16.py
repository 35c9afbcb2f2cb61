"""An autoencoder of digits in float32, mixed_bfloat16 and mixed_float16, the latter with its loss scaled and not, in
gpubench and in Keras: by how much each loss curve leaves float32's. The mean squared error is a mean over the pixels and
the batch, so gradients of a large batch are below what float16 can hold unless the loss is scaled."""

import argparse
import math
import statistics
import sys

import processes
from processes import FOLDER

VARIANTS = {"float32": ("float32", True), "mixed_bfloat16": ("mixed_bfloat16", True),
            "mixed_float16": ("mixed_float16", True), "mixed_float16, loss not scaled": ("mixed_float16", False)}
FAILS = {"mixed_float16, loss not scaled"}
# The band of experiments/mixed_precision.lua: what a difference of two means of three seeds stays within in 95 % of all
# cases (Student's t of 2 degrees of freedom), and at least 1 %.
HALF_WIDTH_IN_DEVIATIONS, LEAST_HALF_WIDTH = 4.303 * math.sqrt(2 / 3), 0.01


def curve(system, variant, arguments, seed):
    policy, scaled = VARIANTS[variant]
    if system == "gpubench":
        found = processes.gpubench("gpubench_loss_curve.lua", arguments.threads, seed=seed, policy=policy,
                                   scaled=int(scaled), batch=arguments.batch, width=arguments.width,
                                   steps=arguments.steps, seed_of_shuffle=seed)
    else:
        command = [sys.executable, FOLDER / "keras_loss_curve.py", policy, "--width", arguments.width, "--batch",
                   arguments.batch, "--steps", arguments.steps, "--seed", seed, "--threads", arguments.threads]
        found = processes.run(command + ["--unscaled"] * (not scaled), arguments.threads)
    return [math.nan if loss is None else loss for loss in found["losses"]]


def gap(curves, reference):
    """How far the mean of `curves` is from that of `reference`, in half-widths of its band, where it is farthest."""
    farthest = 0.0
    for own, expected in zip(zip(*curves), zip(*reference)):
        half_width = max(HALF_WIDTH_IN_DEVIATIONS * statistics.stdev(expected),
                         LEAST_HALF_WIDTH * statistics.mean(expected))
        difference = abs(statistics.mean(own) - statistics.mean(expected)) / half_width
        farthest = math.inf if math.isnan(difference) else max(farthest, difference)
    return farthest


def main():
    parser = argparse.ArgumentParser(prog="tests/peers/float16", description=__doc__)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--batch", type=int, default=8192)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--systems", default="gpubench,keras", help=argparse.SUPPRESS)
    arguments = parser.parse_args()

    good = True
    for system in arguments.systems.split(","):
        reference = None
        for variant in VARIANTS:
            curves = [curve(system, variant, arguments, seed) for seed in (1, 2, 3)]
            reference = reference or curves
            distance = gap(curves, reference)
            as_expected = (distance > 1) == (variant in FAILS)
            good = good and as_expected
            ends = statistics.mean(losses[0] for losses in curves), statistics.mean(losses[-1] for losses in curves)
            print(f"{system:9} {variant:31} loss {ends[0]:.4f} -> {ends[1]:.4f}, {distance:5.2f} half-widths from float32's"
                  f"{'' if as_expected else ': NOT AS EXPECTED'}", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
