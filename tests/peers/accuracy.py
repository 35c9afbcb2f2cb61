"""Test accuracy after some epochs, gpubench against Keras with the same settings: the mean of several seeds. With
--policies, gpubench in each of them against its own float32."""

import argparse
import statistics
import sys

import processes
from processes import FOLDER

BATCHES = {"M1": 32, "M3": 64}
BAR_POINTS = 0.3


def train(system, model, arguments, seed):
    batch = BATCHES[model]
    if system != "keras":
        policy = "float32" if system == "gpubench" else system
        return processes.gpubench("gpubench_accuracy.lua", arguments.threads, seed=seed, model=model, batch=batch,
                                  epochs=arguments.epochs, seed_of_shuffle=seed, policy=policy)
    return processes.run([sys.executable, FOLDER / "keras_peer.py", "accuracy", model, batch, "--epochs",
                          arguments.epochs, "--seed", seed, "--threads", arguments.threads], arguments.threads)


def main():
    parser = argparse.ArgumentParser(prog="tests/peers/accuracy", description=__doc__)
    parser.add_argument("--models", default="M1,M3")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=3, help="how many")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--policies", help="such as mixed_bfloat16,mixed_float16")
    parser.add_argument("--systems", default="gpubench,keras", help=argparse.SUPPRESS)
    arguments = parser.parse_args()

    # The first is what the others are held to.
    systems = ["float32"] + arguments.policies.split(",") if arguments.policies else arguments.systems.split(",")[::-1]

    good = True
    for model in arguments.models.split(","):
        means = {}
        for system in systems:
            found = [train(system, model, arguments, seed) for seed in range(1, arguments.seeds + 1)]
            points = [100 * result["accuracy"] for result in found]
            means[system] = statistics.mean(points)
            spread = statistics.stdev(points) if len(points) > 1 else 0
            loss = statistics.mean(result["loss"] for result in found)
            print(f"{model} batch {BATCHES[model]}, {arguments.epochs} epochs, {system:14} accuracy {means[system]:.2f} % "
                  f"(deviation {spread:.2f}; {', '.join(f'{p:.2f}' for p in points)}), loss {loss:.4f}", flush=True)
        for system in systems[1:]:
            difference = means[system] - means[systems[0]]
            held = abs(difference) <= BAR_POINTS
            good = good and held
            print(f"{model}: {system} differs from {systems[0]} by {difference:+.2f} points (bar {BAR_POINTS}): "
                  f"{'met' if held else 'MISSED'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
