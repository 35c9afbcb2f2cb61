"""Steps of gpubench, PyTorch (eager and compiled) and Keras on the nets of gb.zoo, in turn, each as its own process: training
steps with Adam, or inference; in float32, or in bfloat16 as each system mixes it (autocast, Keras' mixed policy)."""

import argparse
import os
import pathlib
import statistics
import sys
import time

import models
import processes

FOLDER = pathlib.Path(__file__).resolve().parent
SYSTEMS = ["gpubench", "torch", "torch.compile", "keras"]
FASTER, NETS_FASTER = 1.25, 0.5  # this share of the nets is to be so many times as fast as the best peer
MEMORY = 0.8  # most of PyTorch's peak memory
COLUMNS = ["system", "version", "model", "process", "step_time_s", "step_time_min_s", "peak_rss_bytes",
           "rss_before_net", "plan_bytes", "parameters", "load"]


def arguments_from(words):
    parser = argparse.ArgumentParser(prog="tests/peers/zoo/run", description=__doc__)
    parser.add_argument("--models", default=",".join(models.MODELS), help="of " + ", ".join(models.MODELS))
    parser.add_argument("--systems", default=",".join(SYSTEMS), help="which to run, in this order")
    parser.add_argument("--inference", action="store_true", help="answers of the net instead of training steps")
    parser.add_argument("--precision", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--batch-times", type=int, default=1, metavar="N", help="batches N times as large")
    parser.add_argument("--rounds", type=int, default=1, help="times that the systems are run there and back again")
    parser.add_argument("--seconds", type=float, default=5, help="time to measure in each process")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="tiny nets, for a test of this comparison")
    parser.add_argument("--csv", type=pathlib.Path, default=processes.ROOT / "build/peers/zoo.csv", help="a row per process")
    parser.add_argument("--torch-python", default=sys.executable, help=argparse.SUPPRESS)
    parser.add_argument("--strict", action="store_true", help="exit with status 1 where a bar is missed")
    arguments = parser.parse_args(words)
    for kind, given, known in [("models", arguments.models, models.MODELS), ("systems", arguments.systems, SYSTEMS)]:
        unknown = set(given.split(",")) - set(known)
        if unknown:
            parser.error(f"unknown {kind}: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if arguments.quick:
        arguments.seconds = min(arguments.seconds, 0.2)
    return arguments


def run_system(system, net, arguments):
    batch, options = (models.QUICK if arguments.quick else models.MODELS)[net]
    net, text = net.split(":")[0], models.as_text(options)
    batch *= arguments.batch_times
    if system == "gpubench":
        return processes.gpubench("zoo/gpubench_step.lua", arguments.threads, net=net, batch=batch, options=text,
                                  steps=models.STEPS, seconds=arguments.seconds, precision=arguments.precision,
                                  inference=int(arguments.inference))
    common = [net, batch, text, "--seconds", arguments.seconds, "--threads", arguments.threads,
              "--precision", arguments.precision] + ["--inference"] * arguments.inference
    if system == "keras":
        return processes.run([sys.executable, FOLDER / "keras_step.py", *common], arguments.threads)
    if not arguments.torch_python:
        raise processes.Failed("PyTorch is not installed")
    words = [arguments.torch_python, FOLDER / "torch_step.py", *common]
    return processes.run(words + ["--compile"] * (system == "torch.compile"), arguments.threads)


def measure(net, arguments):
    """Results by system; the systems run in turn, there and back, so that drift hits all alike."""
    results = {}
    there = arguments.systems.split(",")
    for _ in range(arguments.rounds):
        for system in there + there[::-1]:
            try:
                result = run_system(system, net, arguments)
            except processes.Failed as failure:
                print(f"peers: {system} {net}: {failure}", file=sys.stderr)
                continue
            results.setdefault(system, []).append(result | {"model": net, "load": os.getloadavg()[0]})
            print(f"peers: {system:14} {net:18} {result['step_time_s'] * 1e3:9.1f} ms a step, "
                  f"{result['peak_rss_bytes'] / 2**20:6.0f} MiB, {result['parameters']} parameters", file=sys.stderr)
    return results


def median(results, column):
    values = [result[column] for result in results or [] if result.get(column)]
    return statistics.median(values) if values else None


def verdicts(measured):
    """Lines about the bars, and whether all hold."""
    lines, good, faster = [], True, 0
    for net, results in measured.items():
        own = median(results.get("gpubench"), "step_time_s")
        peers = [(median(found, "step_time_s"), system) for system, found in results.items() if system != "gpubench"]
        if own is None or not peers:
            lines.append(f"{net}: not measured")
            good = False
            continue
        best, system = min(peers)
        faster += best / own >= FASTER
        held = best >= own
        line = f"{net}: {best / own:.2f} times as fast as {system} (bar 1): {'met' if held else 'MISSED'}"
        torch = median(results.get("torch"), "peak_rss_bytes")
        if torch:
            own_peak, own_before = (median(results["gpubench"], column) for column in ("peak_rss_bytes", "rss_before_net"))
            share = own_peak / torch
            of_net = (own_peak - own_before) / (torch - median(results["torch"], "rss_before_net"))
            line += (f"; {share:.2f} of torch's memory (bar {MEMORY}): {'met' if share <= MEMORY else 'MISSED'}, "
                     f"{of_net:.2f} without what both have before the net")
            held = held and share <= MEMORY
        counts = {result["parameters"] for found in results.values() for result in found}
        if len(counts) > 1:
            line += f"; parameters differ: {sorted(counts)}"
            held = False
        lines.append(line)
        good = good and held
    lines.append(f"{faster} of {len(measured)} at least {FASTER} times as fast as the best peer (bar {NETS_FASTER:.0%})")
    return lines, good and faster >= NETS_FASTER * len(measured)


def print_table(measured, systems):
    print(f"\n{'net':20}" + "".join(f"{name:>22}" for name in systems) + "   step time, ms (ratio to gpubench)")
    for net, results in measured.items():
        own, cells = median(results.get("gpubench"), "step_time_s"), []
        for system in systems:
            time_s = median(results.get(system), "step_time_s")
            ratio = f" ({time_s / own:.2f})" if time_s and own else ""
            cells.append(f"{time_s * 1e3:.1f}{ratio}" if time_s else "-")
        print(f"{net:20}" + "".join(f"{cell:>22}" for cell in cells))
    print(f"\n{'net':20}" + "".join(f"{name:>22}" for name in systems) + "   peak memory, MiB (before the net)")
    for net, results in measured.items():
        cells = []
        for system in systems:
            peak, before = (median(results.get(system), column) for column in ("peak_rss_bytes", "rss_before_net"))
            cells.append("-" if peak is None else f"{peak / 2**20:.0f}" + (f" ({before / 2**20:.0f})" if before else ""))
        print(f"{net:20}" + "".join(f"{cell:>22}" for cell in cells))


def main():
    arguments = arguments_from(sys.argv[1:])
    print(f"peers: {time.strftime('%Y-%m-%d %H:%M', time.gmtime())} UTC, {os.cpu_count()} cores, {arguments.threads} "
          f"threads each, load before the run {os.getloadavg()[0]:.1f}", file=sys.stderr)
    measured = {net: measure(net, arguments) for net in arguments.models.split(",")}
    print_table(measured, arguments.systems.split(","))
    lines, good = verdicts(measured)
    print("\n" + "\n".join(lines))
    processes.write_csv(arguments.csv, COLUMNS, processes.numbered(measured))
    return 1 if arguments.strict and not good else 0


if __name__ == "__main__":
    sys.exit(main())
