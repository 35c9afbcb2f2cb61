#!/usr/bin/env python3
"""Speed of two builds of gpubench, interleaved (old, new, new, old): the steps, pipelines and replicas that the peers are
compared on, and every line of gpubench_bench. A line whose new median is more than 3 % slower is measured three more
times. A row says how much slower (+) or faster (-) the new program is."""

import argparse
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import processes
from processes import FOLDER

SLOWER = 0.03
MORE_ROUNDS = 3
# Model, batch, steps of a timed epoch; the digits of data/mnist are enough for these.
STEPS = [("M1", 32, 250), ("M1", 1, 4000), ("M2", 128, 60), ("M3", 64, 100)]
MIRRORED = [("M1", 32, 125), ("M1", 64, 62), ("M3", 64, 60)]
ALL_REDUCE_SIZES = [1 << 10, 1 << 14, 1 << 18, 1 << 22, 1 << 26]


def arguments_from(words):
    parser = argparse.ArgumentParser(prog="tests/peers/old_and_new.py", description=__doc__)
    parser.add_argument("old", type=pathlib.Path, help="build folder of the old program, with bin/gpubench and "
                        "tests/bench/gpubench_bench")
    parser.add_argument("new", type=pathlib.Path, help="build folder of the new program")
    parser.add_argument("--parts", default="steps,pipelines,replicas,bench", help="which comparisons (default: all)")
    parser.add_argument("--rounds", type=int, default=2, help="times that the programs are run there and back again")
    parser.add_argument("--seconds", type=float, default=2, help="time to measure in each process")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--filter", default=".", help="lines of gpubench_bench (a regular expression)")
    parser.add_argument("--pipelines", type=pathlib.Path, help="data of tests/peers/pipelines/prepare.py (without it only "
                        "pipelines that need none)")
    parser.add_argument("--csv", type=pathlib.Path, help="a row a line")
    return parser.parse_args(words)


def script(build, path, threads, arguments, **variables):
    """The JSON object that a script of this folder prints when `build`'s program runs it."""
    named = {f"PEERS_{name.upper()}": str(value) for name, value in variables.items()}
    with tempfile.TemporaryDirectory() as out:
        command = [build / "bin/gpubench", FOLDER / path, "--threads", threads, "--seed", 1, "--out", out]
        return processes.run(command, 1 if "replicas" in path else threads, GPUBENCH_PATH=str(FOLDER),
                             PEERS_SECONDS=str(arguments.seconds), **named)


def steps(arguments):
    for model, batch, count in STEPS:
        def work(build, model=model, batch=batch, count=count):
            found = script(build, "gpubench_step.lua", arguments.threads, arguments, model=model, batch=batch, steps=count)
            return {f"step {model} batch {batch}": found["step_time_s"]}
        yield work


def pipelines(arguments):
    names = ["augment", "sqrt"] + ["csv", "tfrecord", "jpeg"] * (arguments.pipelines is not None)
    for name in names:
        def work(build, name=name):
            found = script(build, "pipelines/gpubench_line.lua", arguments.threads, arguments, name=name,
                           data=arguments.pipelines or "")
            return {f"pipeline {name}": 1 / found["elements_per_s"]}
        yield work


def replicas(arguments):
    for model, batch, count in MIRRORED:
        def work(build, model=model, batch=batch, count=count):
            found = script(build, "replicas/gpubench_mirrored.lua", 2, arguments, model=model, batch=batch, replicas=2,
                           steps=count)
            return {f"mirrored {model} batch {batch}": 1 / found["examples_per_s"]}
        yield work

    def collective(build):
        found = script(build, "replicas/gpubench_all_reduce.lua", 2, arguments, replicas=2,
                       sizes=",".join(map(str, ALL_REDUCE_SIZES)))
        return {f"all_reduce {int(size)} bytes": time for size, time in found["times_s"].items()}
    yield collective


def bench_names(build, arguments):
    command = [build / "tests/bench/gpubench_bench", "--benchmark_list_tests", f"--benchmark_filter={arguments.filter}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")[:-1]


def bench(arguments):
    """Lines that both programs have, a process a family of lines."""
    known = set(bench_names(arguments.old, arguments))
    common = [name for name in bench_names(arguments.new, arguments) if name in known]
    for family in dict.fromkeys(name.split("/")[0] for name in common):
        def work(build, family=family):
            command = [build / "tests/bench/gpubench_bench", f"--benchmark_filter=^{family}(/|$)", "--benchmark_format=json",
                       "--benchmark_min_time=0.1"]
            environment = dict(os.environ, OMP_NUM_THREADS=str(arguments.threads))
            printed = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
            lines = json.loads(printed[printed.index("{"):])["benchmarks"]
            return {line["name"]: line["real_time"] for line in lines if line["name"] in known and "real_time" in line}
        yield work


def there_and_back(work, builds, found):
    for side in ("old", "new", "new", "old"):
        for line, time in work(builds[side]).items():
            found.setdefault(line, {"old": [], "new": []})[side].append(time)


def change(times):
    return statistics.median(times["new"]) / statistics.median(times["old"]) - 1


def compare(work, arguments):
    """{ line: { old: [time, ...], new: [...] } }"""
    builds, found = {"old": arguments.old, "new": arguments.new}, {}
    for _ in range(arguments.rounds):
        there_and_back(work, builds, found)
    for _ in range(MORE_ROUNDS):
        if not any(times["old"] and times["new"] and change(times) > SLOWER for times in found.values()):
            break
        there_and_back(work, builds, found)
    return {line: times for line, times in found.items() if times["old"] and times["new"]}


def main():
    arguments = arguments_from(sys.argv[1:])
    parts = {"steps": steps, "pipelines": pipelines, "replicas": replicas, "bench": bench}
    chosen = arguments.parts.split(",")
    unknown = [part for part in chosen if part not in parts]
    if unknown:
        sys.exit(f"tests/peers/old_and_new.py: unknown parts {', '.join(unknown)}; there are {', '.join(parts)}")
    rows = []
    for part in chosen:
        for work in parts[part](arguments):
            try:
                compared = compare(work, arguments)
            except (processes.Failed, subprocess.CalledProcessError) as failure:
                print(f"{part}: {failure}", flush=True)
                continue
            for line, times in compared.items():
                rows.append([line, len(times["new"]), statistics.median(times["old"]), statistics.median(times["new"]),
                             change(times)])
                print(f"{line:60} {len(times['new']):3} processes a side {change(times):+7.1%}", flush=True)
    slower = [row for row in rows if row[-1] > SLOWER]
    print(f"{len(rows)} lines, {len(slower)} more than {SLOWER:.0%} slower, geometric mean "
          f"{statistics.geometric_mean(1 + row[-1] for row in rows) - 1:+.1%}" if rows else "no line was measured")
    if arguments.csv:
        with open(arguments.csv, "w", newline="") as file:
            csv.writer(file).writerows([["line", "processes", "old", "new", "change"]] + rows)
    return 1 if slower or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
