"""Step times of gpubench, Keras and PyTorch on the same digits, in turn, each as its own process, and the bare floor."""

import argparse
import os
import pathlib
import statistics
import sys
import time

import processes
from processes import FOLDER, ROOT

BATCHES = {"M1": [32, 1], "M2": [128], "M3": [64]}
# Least ratio of the system's step time to gpubench's; the last is how far above the floor is good enough instead.
BARS = {
    ("M1", 32): ({"keras": 4, "torch": 2}, None),
    ("M1", 1): ({"keras": 6}, None),
    ("M2", 128): ({"keras": 1.5, "torch": 1.5}, 0.20),
    ("M3", 64): ({"keras": 2.5, "torch": 2.5}, 0.30),
}
COLUMNS = ["system", "version", "model", "batch_size", "process", "step_time_s", "step_time_min_s",
           "measured_step_time_s", "peak_rss_bytes", "peak_memory_bytes", "load"]


def arguments_from(words):
    parser = argparse.ArgumentParser(prog="tests/peers/run", description=__doc__)
    parser.add_argument("--models", default="M1,M2,M3", help="of M1, M2, M3 (default: all)")
    parser.add_argument("--rounds", type=int, default=2, help="times that the systems are run there and back again")
    parser.add_argument("--seconds", type=float, default=5, help="time to measure in each process")
    parser.add_argument("--quick", action="store_true", help="one round of a second each")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--systems", default="gpubench,keras,torch,torch.compile", help="which to run, in this order")
    parser.add_argument("--keras-input", choices=["arrays", "dataset"], default="arrays",
                        help="what Keras' fit is given: arrays, or a tf.data pipeline as gpubench's")
    parser.add_argument("--csv", type=pathlib.Path, default=ROOT / "build/peers/peers.csv", help="a row per process")
    parser.add_argument("--torch-python", default=sys.executable, help=argparse.SUPPRESS)
    parser.add_argument("--strict", action="store_true", help="exit with status 1 where a bar is missed")
    arguments = parser.parse_args(words)
    if arguments.quick:
        arguments.rounds, arguments.seconds = 1, 1.0
    unknown = set(arguments.models.split(",")) - set(BATCHES)
    if unknown:
        parser.error(f"unknown models: {', '.join(sorted(unknown))}; there are {', '.join(BATCHES)}")
    return arguments


def run_system(system, model, batch, arguments):
    """One process of one system."""
    import settings

    steps = settings.epoch_examples(model, batch, len(digits())) // batch
    common = ["--seconds", arguments.seconds, "--threads", arguments.threads]
    if system == "gpubench":
        return processes.gpubench("gpubench_step.lua", arguments.threads, quick=arguments.quick, model=model, batch=batch,
                                  steps=steps, seconds=arguments.seconds)
    if system == "keras":
        words = [sys.executable, FOLDER / "keras_peer.py", "time", model, batch, "--input", arguments.keras_input]
        return processes.run(words + common, arguments.threads)
    if system == "floor":
        words = [processes.FLOOR, "--model", model, "--batch", batch, "--threads", arguments.threads]
        return processes.run(words + ["--seconds", arguments.seconds / 25], arguments.threads)
    if not arguments.torch_python:
        raise processes.Failed("PyTorch is not installed")
    words = [arguments.torch_python, FOLDER / "torch_peer.py", model, batch] + common
    return processes.run(words + ["--compile"] * (system == "torch.compile"), arguments.threads)


def digits(cache=[]):
    import settings

    if not cache:
        cache.append(settings.digits("train")[0])
    return cache[0]


def measure(model, batch, arguments):
    """Results by system; the systems run in turn, there and back, so that drift hits all alike."""
    results = {}
    there = arguments.systems.split(",")
    for _ in range(arguments.rounds):
        for system in there + there[::-1] + ["floor"]:
            try:
                result = run_system(system, model, batch, arguments)
            except processes.Failed as failure:
                print(f"peers: {system} {model} batch {batch}: {failure}", file=sys.stderr)
                continue
            result |= {"model": model, "batch_size": batch, "load": os.getloadavg()[0]}
            results.setdefault(system, []).append(result)
            print(f"peers: {system:14} {model} batch {batch:3}  {result['step_time_s'] * 1e6:10.1f} us a step",
                  file=sys.stderr)
    return results


def median(results, column="step_time_s"):
    values = [result[column] for result in results if result.get(column)]
    return statistics.median(values) if values else None


def times_of(results):
    """Medians by system. What is slower than gpubench is no floor: it is named and left out."""
    times = {system: median(found) for system, found in results.items()}
    own, floor = times.get("gpubench"), times.get("floor")
    if own and floor and floor > own:
        result = results["floor"][0]
        print(f"peers: {result['model']} batch {result['batch_size']}: no floor: the vendor's calls in turn take "
              f"{floor * 1e6:.1f} us, and gpubench's step {own * 1e6:.1f} us", file=sys.stderr)
        times["floor"] = None
    return times


def verdicts(model, batch, times):
    """Which bars hold. A model may meet all ratios or stay near enough to the floor."""
    ratios, near = BARS[model, batch]
    own = times.get("gpubench")
    if own is None:
        return [("not measured", False)]
    checks = []
    for system, least in ratios.items():
        if times.get(system):
            ratio = times[system] / own
            checks.append((f"{system} {ratio:.2f}x (bar {least}x)", ratio >= least))
    if near is not None and times.get("floor"):
        above = own / times["floor"] - 1
        checks.append((f"floor {above:+.0%} (bar +{near:.0%})", above <= near))
    return checks


def passed(model, batch, checks):
    _, near = BARS[model, batch]
    if near is None or not checks[-1][0].startswith("floor"):
        return all(held for _, held in checks)
    return checks[-1][1] or all(held for _, held in checks[:-1])


def print_table(measured, systems):
    columns = systems + ["floor"]
    print(f"\n{'model':6}{'batch':>6}" + "".join(f"{name:>17}" for name in columns) + "   step time, us (ratio to gpubench)")
    good = True
    medians = {key: times_of(results) for key, results in measured.items()}
    for (model, batch), results in measured.items():
        times = medians[model, batch]
        own = times.get("gpubench")
        cells = []
        for system in columns:
            time_s = times.get(system)
            ratio = f" ({time_s / own:.2f})" if time_s and own else ""
            cells.append(f"{time_s * 1e6:.1f}{ratio}" if time_s else "-")
        print(f"{model:6}{batch:>6}" + "".join(f"{cell:>17}" for cell in cells))
    print()
    for model, batch in measured:
        times = medians[model, batch]
        checks = verdicts(model, batch, times)
        held = passed(model, batch, checks)
        good = good and held
        print(f"{model} batch {batch}: {'met' if held else 'MISSED'}: " + "; ".join(text for text, _ in checks))
    return good


def main():
    arguments = arguments_from(sys.argv[1:])
    print(f"peers: {time.strftime('%Y-%m-%d %H:%M', time.gmtime())} UTC, {os.cpu_count()} cores, {arguments.threads} "
          f"threads each, load before the run {os.getloadavg()[0]:.1f}; {len(digits())} training digits", file=sys.stderr)
    measured = {}
    for model in arguments.models.split(","):
        for batch in BATCHES[model]:
            measured[model, batch] = measure(model, batch, arguments)
    good = print_table(measured, arguments.systems.split(","))
    processes.write_csv(arguments.csv, COLUMNS, processes.numbered(measured))
    return 1 if arguments.strict and not good else 0


if __name__ == "__main__":
    sys.exit(main())
