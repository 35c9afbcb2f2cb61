"""Examples per second of replicas with one thread each, in gpubench, PyTorch's DistributedDataParallel (gloo, a process
per replica) and Keras' MirroredStrategy (a logical CPU device per replica), and times of all_reduce beside gloo's: in one
run, the systems there and back again (A B C C B A), each time as its own process, medians."""

import argparse
import os
import pathlib
import statistics
import sys
import tempfile
import time

import processes

FOLDER = pathlib.Path(__file__).resolve().parent
SYSTEMS = ["gpubench", "torch-ddp", "keras-mirrored"]
BAR = 1.5
# Without numpy, which --help does not need.
BATCHES = {"M1": [32, 64], "M3": [64]}
SIZES = [1 << 10, 1 << 14, 1 << 18, 1 << 22, 1 << 26]
COLUMNS = ["system", "version", "model", "batch_size", "bytes", "process", "examples_per_s", "measured_examples_per_s",
           "step_time_s", "step_time_min_s", "collective_time_s", "peak_rss_bytes", "load"]


def arguments_from(words):
    parser = argparse.ArgumentParser(prog="tests/peers/replicas/run", description=__doc__)
    parser.add_argument("--models", default=",".join(BATCHES), help="of M1, M3 (default: both)")
    parser.add_argument("--systems", default=",".join(SYSTEMS), help="which to run, in this order")
    parser.add_argument("--replicas", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2, help="times that the systems are run there and back again")
    parser.add_argument("--seconds", type=float, default=5, help="time to measure in each process")
    parser.add_argument("--quick", action="store_true", help="one round of a second each")
    parser.add_argument("--all-reduce", action="store_true", help="the times of all_reduce instead of training")
    parser.add_argument("--csv", type=pathlib.Path, help="a row per process (default: build/peers/replicas.csv, or "
                        "all_reduce.csv)")
    parser.add_argument("--strict", action="store_true", help="exit with status 1 where a bar is missed")
    parser.add_argument("--torch-python", default=sys.executable, help=argparse.SUPPRESS)
    arguments = parser.parse_args(words)
    if arguments.quick:
        arguments.rounds, arguments.seconds = 1, 1.0
    for given, known, what in [(arguments.models, BATCHES, "models"), (arguments.systems, SYSTEMS, "systems")]:
        unknown = set(given.split(",")) - set(known)
        if unknown:
            parser.error(f"unknown {what}: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    name = "all_reduce.csv" if arguments.all_reduce else "replicas.csv"
    arguments.csv = arguments.csv or processes.ROOT / "build/peers" / name
    return arguments


def gpubench(script, arguments, **variables):
    """A script of this folder with a thread for each replica; variables reach it as PEERS_NAME."""
    named = {f"PEERS_{name.upper()}": str(value) for name, value in variables.items()}
    with tempfile.TemporaryDirectory() as out:
        command = [processes.PROGRAM, FOLDER / script, "--threads", arguments.replicas, "--out", out]
        command += ["--quick"] * arguments.quick
        return processes.run(command, 1, GPUBENCH_PATH=str(FOLDER.parent), PEERS_REPLICAS=str(arguments.replicas), **named)


def python(system, arguments, words):
    is_torch = system.startswith("torch")
    if is_torch and not arguments.torch_python:
        raise processes.Failed("PyTorch is not installed")
    scripts = {"torch-ddp": "torch_ddp.py", "torch-gloo": "torch_all_reduce.py", "keras-mirrored": "keras_mirrored.py"}
    command = [arguments.torch_python if is_torch else sys.executable, FOLDER / scripts[system]] + words
    return processes.run(command + ["--replicas", arguments.replicas, "--seconds", arguments.seconds], 1)


def train(system, model, batch, arguments):
    """One process of one system; its examples per second of all replicas."""
    if system != "gpubench":
        return python(system, arguments, [model, batch])
    import settings
    import workload

    steps = workload.epoch_steps(model, batch * arguments.replicas, len(settings.digits("train")[0]))
    return gpubench("gpubench_mirrored.lua", arguments, model=model, batch=batch, steps=steps, seconds=arguments.seconds)


def all_reduce(system, arguments):
    if system != "gpubench":
        return python(system, arguments, [str(size) for size in SIZES])
    return gpubench("gpubench_all_reduce.lua", arguments, sizes=",".join(map(str, SIZES)), seconds=arguments.seconds)


def there_and_back(systems, arguments, work, show, label):
    """Results by system; drift hits all alike."""
    results = {system: [] for system in systems}
    for _ in range(arguments.rounds):
        for system in systems + systems[::-1]:
            try:
                result = work(system)
            except processes.Failed as failure:
                print(f"peers: {system} {label}: {failure}", file=sys.stderr)
                continue
            results[system].append(result | {"system": system, "load": os.getloadavg()[0]})
            print(f"peers: {system:14} {label:14} {show(result)}", file=sys.stderr)
    return results


def median(results, value):
    return statistics.median(map(value, results)) if results else None


def compare_training(arguments):
    """Rows for the file, and whether the bars hold."""
    systems, rows, lines, good = arguments.systems.split(","), [], [], True
    for model in arguments.models.split(","):
        for batch in BATCHES[model]:
            found = there_and_back(systems, arguments, lambda system: train(system, model, batch, arguments),
                                   lambda result: f"{result['examples_per_s']:10.0f} examples/s", f"{model} batch {batch}")
            rates = {system: median(results, lambda result: result["examples_per_s"]) for system, results in found.items()}
            for system, results in found.items():
                rows += [result | {"model": model, "batch_size": batch, "process": index}
                         for index, result in enumerate(results, 1)]
            line, held = verdict(rates)
            lines.append(f"{model:6}{batch:>8}" + "".join(f"{rates[s] or 0:>17.0f}" for s in systems) + "   " + line)
            good = good and held
    print(f"\n{'model':6}{'batch':>8}" + "".join(f"{name:>17}" for name in systems)
          + f"   examples/s of {arguments.replicas} replicas; batches are those of one")
    print("\n".join(lines))
    return rows, good


def verdict(rates):
    own = rates.get("gpubench")
    ratios = {system: own / rate for system, rate in rates.items() if own and rate and system != "gpubench"}
    if not ratios or len(ratios) + 1 < len(rates):
        return "MISSED: not all were measured", False
    held = all(ratio >= BAR for ratio in ratios.values())
    text = "; ".join(f"{ratio:.2f}x {system}" for system, ratio in ratios.items())
    return f"{'met' if held else 'MISSED'}: {text} (bar {BAR}x)", held


def compare_all_reduce(arguments):
    systems = ["gpubench", "torch-gloo"]
    found = there_and_back(systems, arguments, lambda system: all_reduce(system, arguments),
                           lambda result: f"{result['times_s'][str(SIZES[-1])] * 1e3:10.3f} ms for {SIZES[-1] >> 20} MiB",
                           "all_reduce")
    print(f"\n{'bytes':>10}" + "".join(f"{name:>14}" for name in systems) + f"   us, {arguments.replicas} ranks")
    rows = []
    for size in map(str, SIZES):
        times = {system: median(results, lambda result: result["times_s"][size]) for system, results in found.items()}
        ratio = f"   {times['torch-gloo'] / times['gpubench']:.2f}x" if all(times.values()) else ""
        print(f"{size:>10}" + "".join(f"{(times[s] or 0) * 1e6:>14.1f}" for s in systems) + ratio)
        for system, results in found.items():
            rows += [result | {"bytes": size, "collective_time_s": result["times_s"][size], "process": index}
                     for index, result in enumerate(results, 1)]
    return rows, True


def main():
    arguments = arguments_from(sys.argv[1:])
    print(f"peers: {time.strftime('%Y-%m-%d %H:%M', time.gmtime())} UTC, {os.cpu_count()} cores, {arguments.replicas} "
          f"replicas of one thread, load before the run {os.getloadavg()[0]:.1f}", file=sys.stderr)
    rows, good = compare_all_reduce(arguments) if arguments.all_reduce else compare_training(arguments)
    processes.write_csv(arguments.csv, COLUMNS, rows)
    return 1 if arguments.strict and not good else 0


if __name__ == "__main__":
    sys.exit(main())
