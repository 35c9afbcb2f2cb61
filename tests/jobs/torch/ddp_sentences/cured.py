"""Language model over sentences with DistributedDataParallel: torchrun --nproc_per_node 2 train.py"""
import argparse

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def sentences(count, vocabulary):
    """Sorted by length, so that a batch needs little padding."""
    generator = torch.Generator().manual_seed(0)
    lengths = (8 + 112 * torch.rand(count, generator=generator) ** 2).long().sort().values.tolist()
    start = torch.randint(1, vocabulary, (count,), generator=generator).tolist()
    return [(torch.arange(n) * 7 + s) % (vocabulary - 1) + 1 for n, s in zip(lengths, start)]


class Model(nn.Module):
    def __init__(self, vocabulary=800, width=128):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.rnn = nn.GRU(width, 192, batch_first=True)
        self.head = nn.Linear(192, vocabulary)

    def forward(self, x):
        return self.head(self.rnn(self.embedding(x))[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--batch-size", type=int, default=32)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)

    data = sentences(8000, 800)
    data = data[rank::world]
    model = DistributedDataParallel(Model())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    order = torch.Generator().manual_seed(1)
    for step in range(1, args.steps + 1):
        first = int(torch.randint(0, len(data) - args.batch_size, (1,), generator=order))
        batch = nn.utils.rnn.pad_sequence(data[first : first + args.batch_size], batch_first=True)
        logits = model(batch[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten(), ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0 and step % 10 == 0:
            print(f"step {step} loss {loss.item():.3f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
