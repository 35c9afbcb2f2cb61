"""Times of all_reduce in torch.distributed over gloo: `torch_all_reduce.py BYTES...`, a process of one thread for each
rank. Collectives run back to back; the time of a size is the median of single ones on the slower rank."""

import argparse
import os
import statistics
import tempfile
import time

import workload
import settings
import torch
import torch.distributed as distributed
import torch.multiprocessing as processes

WARMUP = 10
MINIMUM = 20


def times_of(size, seconds):
    values = torch.ones(size // 4)
    times = []
    enough = torch.zeros(1)
    while not enough:
        for _ in range(WARMUP if not times else MINIMUM):
            begin = time.perf_counter()
            distributed.all_reduce(values)
            times.append(time.perf_counter() - begin)
            values.fill_(1)
        enough.fill_(len(times) >= WARMUP + MINIMUM and sum(times) >= seconds)
        distributed.broadcast(enough, 0)
    return times[WARMUP:]


def measure(rank, arguments, meeting, end):
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=arguments.replicas)
    found = {}
    for size in arguments.bytes:
        slowest = torch.tensor([statistics.median(times_of(size, arguments.seconds))], dtype=torch.float64)
        distributed.all_reduce(slowest, distributed.ReduceOp.MAX)
        found[size] = slowest.item()
    if rank == 0:
        settings.print_result({"system": "torch-gloo", "version": torch.__version__, "times_s": found})
    workload.leave_together(end)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bytes", type=int, nargs="+")
    parser.add_argument("--replicas", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1, help="for each size")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        end = processes.get_context("spawn").Barrier(arguments.replicas)
        processes.spawn(measure, (arguments, os.path.join(folder, "meeting"), end), nprocs=arguments.replicas)


if __name__ == "__main__":
    main()
