"""One model in PyTorch's DistributedDataParallel over gloo: `torch_ddp.py MODEL BATCH`, a process of one thread for each
replica on this machine. The loop is that of torch_peer.py: each replica takes its batches by a shuffled index from its
own part of the digits, held in memory. Gradients lie in the buckets that are exchanged, and the graph is said to be
static, which both spare work."""

import argparse
import os
import tempfile

import workload
import settings
import torch
import torch.distributed as distributed
import torch.multiprocessing as processes
import torch_peer
from torch import nn


def train(rank, arguments, meeting, end):
    torch.set_num_threads(1)
    torch.manual_seed(1 + rank)
    distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=arguments.replicas)
    images, labels, steps = workload.digits(arguments.model, arguments.batch, arguments.replicas)
    images = torch.from_numpy(images[rank::arguments.replicas].copy())
    labels = torch.from_numpy(labels[rank::arguments.replicas].argmax(1))
    network = torch_peer.build(arguments.model)
    network = nn.parallel.DistributedDataParallel(network, gradient_as_bucket_view=True, static_graph=True)
    optimizer = torch.optim.Adam(network.parameters(), settings.LEARNING_RATE)
    timer = workload.RateTimer(steps, arguments.seconds, arguments.batch * arguments.replicas)
    enough = torch.zeros(1)
    while not enough:
        distributed.barrier()
        timer.begin()
        torch_peer.run_epoch(network, optimizer, nn.CrossEntropyLoss(), images, labels, arguments.batch)
        distributed.barrier()
        timer.end()
        enough.fill_(timer.enough())
        distributed.broadcast(enough, 0)
    if rank == 0:
        settings.print_result(timer.result(system="torch-ddp", version=torch.__version__))
    workload.leave_together(end)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=list(workload.BATCHES))
    parser.add_argument("batch", type=int)
    parser.add_argument("--replicas", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        end = processes.get_context("spawn").Barrier(arguments.replicas)
        processes.spawn(train, (arguments, os.path.join(folder, "meeting"), end), nprocs=arguments.replicas)


if __name__ == "__main__":
    main()
