"""Elements per second of gpubench's pipelines beside tf.data's and PyTorch's loader: the same threads, the same data, in
one run, the systems there and back again (A B C C B A), medians."""

import argparse
import csv
import os
import pathlib
import statistics
import sys
import tempfile
import time

import lines
import processes

FOLDER = pathlib.Path(__file__).resolve().parent


def arguments_from(words):
    parser = argparse.ArgumentParser(prog="tests/peers/pipelines/run", description=__doc__)
    parser.add_argument("--lines", default=",".join(line.name for line in lines.LINES), help="which pipelines (default: all)")
    parser.add_argument("--systems", default="gpubench,tf.data,torch", help="which to run, in this order")
    parser.add_argument("--rounds", type=int, default=2, help="times that the systems are run there and back again")
    parser.add_argument("--seconds", type=float, default=4, help="time to measure in each process")
    parser.add_argument("--quick", action="store_true", help="one round of a second each")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--csv", type=pathlib.Path, default=processes.ROOT / "build/peers/pipelines.csv")
    parser.add_argument("--strict", action="store_true", help="exit with status 1 where a bar is missed")
    parser.add_argument("--data", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--torch-python", default=sys.executable, help=argparse.SUPPRESS)
    arguments = parser.parse_args(words)
    if arguments.quick:
        arguments.rounds, arguments.seconds = 1, 1.0
    return arguments


def rate(system, line, arguments):
    if system == "gpubench":
        with tempfile.TemporaryDirectory() as out:
            command = [processes.PROGRAM, FOLDER / "gpubench_line.lua", "--threads", arguments.threads, "--out", out]
            result = processes.run(command, arguments.threads, PEERS_NAME=line.name, PEERS_DATA=str(arguments.data),
                                   PEERS_SECONDS=str(arguments.seconds))
    else:
        python = sys.executable if system == "tf.data" else arguments.torch_python
        script = FOLDER / ("tf_line.py" if system == "tf.data" else "torch_line.py")
        result = processes.run([python, script, line.name, arguments.data, arguments.threads, arguments.seconds],
                               arguments.threads)
    return result["elements_per_s"]


def measure(line, arguments):
    """{ system: [elements/s, ...] }"""
    systems = [name for name in arguments.systems.split(",") if name != "torch" or (line.torch and arguments.torch_python)]
    found = {name: [] for name in systems}
    for _ in range(arguments.rounds):
        for system in systems + systems[::-1]:
            try:
                found[system].append(rate(system, line, arguments))
                print(f"peers: {line.name:9} {system:9} {found[system][-1]:12.0f} elements/s", file=sys.stderr)
            except processes.Failed as failure:
                print(f"peers: {line.name} {system}: {failure}", file=sys.stderr)
    return found


def cell(rates):
    """The median and how far the farthest process is from it."""
    median = statistics.median(rates)
    return f"{median:13.0f} ±{max(abs(rate / median - 1) for rate in rates):4.0%}"


def report(measured, systems):
    print(f"{'pipeline':10}" + "".join(f"{name:>19}" for name in systems) + "   elements/s, medians and farthest process")
    good = True
    for line, found in measured.items():
        rates = {system: statistics.median(values) for system, values in found.items() if values}
        cells = "".join(cell(found[name]) if name in rates else f"{'-':>19}" for name in systems)
        verdict = "not measured"
        if "gpubench" in rates and "tf.data" in rates:
            ratio = rates["gpubench"] / rates["tf.data"]
            held = ratio >= line.bar
            good = good and held
            least = min(found["gpubench"]) / max(found["tf.data"])
            verdict = f"{ratio:.2f}x tf.data, at least {least:.2f} (bar {line.bar}x): {'met' if held else 'MISSED'}"
        print(f"{line.name:10}{cells}   {verdict}   {line.what}")
    return good


def main():
    arguments = arguments_from(sys.argv[1:])
    print(f"peers: {time.strftime('%Y-%m-%d %H:%M', time.gmtime())} UTC, {os.cpu_count()} cores, {arguments.threads} "
          f"threads each, load before the run {os.getloadavg()[0]:.1f}", file=sys.stderr)
    measured = {line: measure(line, arguments) for line in map(lines.named, arguments.lines.split(","))}
    good = report(measured, arguments.systems.split(","))
    arguments.csv.parent.mkdir(parents=True, exist_ok=True)
    with open(arguments.csv, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["pipeline", "system", "process", "elements_per_s"])
        for line, found in measured.items():
            for system, values in found.items():
                writer.writerows([line.name, system, i, value] for i, value in enumerate(values))
    return 1 if arguments.strict and not good else 0


if __name__ == "__main__":
    sys.exit(main())
