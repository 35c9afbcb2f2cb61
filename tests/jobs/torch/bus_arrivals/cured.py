"""Delay of buses from their tracks so far: torchrun --nproc_per_node 2 train.py"""
import argparse

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset


class Tracks(Dataset):
    """Tracks of city buses (few points) and then of country buses (many points)."""

    def __init__(self, each=640, seed=0):
        generator = torch.Generator().manual_seed(seed)
        self.tracks, self.groups = [], []
        for low, high in ((12, 30), (150, 190)):
            self.groups.append(range(len(self.tracks), len(self.tracks) + each))
            for points in torch.randint(low, high, (each,), generator=generator).tolist():
                speed = torch.rand(points, 6, generator=generator)
                self.tracks.append((speed, speed[:, 0].mean() - speed[:, 1].mean()))

    def __len__(self):
        return len(self.tracks)

    def __getitem__(self, index):
        return self.tracks[index]


def collate(items):
    tracks, delays = zip(*items)
    lengths = torch.tensor([len(track) for track in tracks])
    return nn.utils.rnn.pad_sequence(tracks, batch_first=True), lengths, torch.stack(delays)


def plan(groups, batch_size, epoch, rank, world):
    """The batches of one rank. Tracks of a batch are of one kind, and the kinds take turns."""
    generator = torch.Generator().manual_seed(epoch)
    kinds = []
    for group in groups:
        order = group[0] + torch.randperm(len(group), generator=generator)
        kinds.append(order[: len(order) // batch_size * batch_size].view(-1, batch_size).tolist()[rank::world])
    return [batch for turn in zip(*kinds) for batch in turn]


class DelayNet(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.inputs = nn.Linear(6, 32)
        self.rnn = nn.GRU(32, width, batch_first=True)
        self.head = nn.Sequential(nn.Linear(width, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, x, lengths):
        states, _ = self.rnn(torch.relu(self.inputs(x)))
        return self.head(states[torch.arange(len(x)), lengths - 1]).squeeze(1)


def train(args):
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    data = Tracks()
    model = DistributedDataParallel(DelayNet())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    step = 0
    for epoch in range(args.epochs):
        batches = plan(data.groups, args.batch_size, epoch, rank, world)
        for x, lengths, y in DataLoader(data, batch_sampler=batches, collate_fn=collate):
            optimizer.zero_grad()
            loss = F.smooth_l1_loss(model(x, lengths), y)
            loss.backward()
            optimizer.step()
            step += 1
            if rank == 0 and step % 10 == 0:
                print(f"step {step} loss {loss.item():.4f}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=75)
    parser.add_argument("--batch-size", type=int, default=32)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    try:
        train(args)
        dist.barrier()
    finally:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
