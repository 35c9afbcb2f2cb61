"""Processor time of attention and its gradient on one core: gpubench_bench beside PyTorch's
scaled_dot_product_attention, in the order A B B A. Processor time of one pinned thread also holds on a machine that
others use."""

import argparse
import json
import os
import subprocess
import time

import torch

HEADS, DIM = 8, 64
CASES = [(4, 512, False), (4, 512, True), (1, 2048, True)]
REPETITIONS = 5


def own(bench):
    """Milliseconds by ("attention" or "attention_gradient", batch, time, causal), from Google Benchmark's CPU time."""
    command = [bench, "--benchmark_filter=^attention(_gradient)?/", "--benchmark_min_time=0.3", "--benchmark_format=json"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    times = {}
    for row in report["benchmarks"]:
        name, *arguments = row["name"].split("/")
        values = [int(argument.split(":")[1]) for argument in arguments if ":" in argument]
        times[name, values[0], values[1], bool(values[2])] = row["cpu_time"] / 1e3
    return times


def peer():
    times = {}
    for batch, length, causal in CASES:
        q, k, v = (torch.randn(batch, HEADS, length, DIM, requires_grad=True) for _ in range(3))
        slopes = torch.randn(batch, HEADS, length, DIM)
        forward, gradient = [], []
        for _ in range(REPETITIONS):
            start = time.process_time()
            out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
            middle = time.process_time()
            out.backward(slopes)
            forward.append(middle - start)
            gradient.append(time.process_time() - middle)
            q.grad = k.grad = v.grad = None
        times["attention", batch, length, causal] = 1e3 * min(forward)
        times["attention_gradient", batch, length, causal] = 1e3 * min(gradient)
    return times


def main():
    parser = argparse.ArgumentParser(prog="tests/peers/attention.py", description=__doc__)
    parser.add_argument("--bench", default="build/release/tests/bench/gpubench_bench")
    parser.add_argument("--core", type=int, default=0)
    arguments = parser.parse_args()
    os.sched_setaffinity(0, {arguments.core})
    torch.set_num_threads(1)
    runs = [own(arguments.bench), peer(), peer(), own(arguments.bench)]
    print(f"{'':48}{'gpubench':>10}{'PyTorch':>10}   ms of one core")
    for key in runs[1]:
        ours, theirs = min(runs[0][key], runs[3][key]), min(runs[1][key], runs[2][key])
        name, batch, length, causal = key
        label = f"{name} batch {batch} time {length}{' causal' if causal else ''}"
        print(f"{label:48}{ours:10.1f}{theirs:10.1f}   {theirs / ours:.2f} times as fast")


if __name__ == "__main__":
    main()
