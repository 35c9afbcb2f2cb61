"""Faults of a bearing from its vibration; rare faults are drawn more often."""
import argparse
import csv
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

FAULTS = ("none", "inner race", "outer race", "ball")


def vibration(count=4096, samples=1024, seed=0):
    generator = torch.Generator().manual_seed(seed)
    label = torch.multinomial(torch.tensor([0.85, 0.07, 0.05, 0.03]), count, replacement=True, generator=generator)
    t = torch.arange(samples) / samples
    carrier = torch.sin(2 * torch.pi * (80 + 20 * torch.rand(count, 1, generator=generator)) * t)
    knocks = 1 + (label[:, None] > 0) * torch.sign(torch.sin(2 * torch.pi * (4 + 5 * label[:, None]) * t))
    return (carrier * knocks + 0.8 * torch.randn(count, samples, generator=generator))[:, None], label


class FaultNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(1, 16, 16, stride=4, padding=6)
        self.conv2 = nn.Conv1d(16, 32, 8, stride=4, padding=2)
        self.fc1 = nn.Linear(32 * 64, 128)
        self.fc2 = nn.Linear(128, len(FAULTS))

    def forward(self, x):
        x = torch.relu(self.conv2(torch.relu(self.conv1(x))))
        return self.fc2(torch.relu(self.fc1(x.flatten(1))))


class Journal:
    """Two tables of a run: its losses, and how its weights and gradients are distributed."""

    def __init__(self, folder):
        self.files = [open(Path(folder) / name, "w", newline="") for name in ("losses.csv", "tensors.csv")]
        self.losses, self.tensors = [csv.writer(file) for file in self.files]

    def loss(self, step, value):
        self.losses.writerow([step, value])

    def tensor(self, step, name, values):
        counts, edges = np.histogram(values.detach().numpy(), bins=64)
        self.tensors.writerow([step, name, edges[0], edges[-1], *counts.tolist()])
        self.files[1].flush()

    def model(self, step, model):
        for name, p in model.named_parameters():
            self.tensor(step, name, p)
            self.tensor(step, name + ".grad", p.grad)

    def close(self):
        for file in self.files:
            file.close()


def run(args, folder):
    torch.manual_seed(args.seed)
    signals, labels = vibration()
    weights = 1 / torch.bincount(labels, minlength=len(FAULTS)).clamp_min(1).float()
    sampler = WeightedRandomSampler(weights[labels], num_samples=len(labels))
    loader = DataLoader(TensorDataset(signals, labels), batch_size=args.batch_size, sampler=sampler, drop_last=True)
    model = FaultNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    journal = Journal(folder)
    step = 0
    for epoch in range(args.epochs):
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            journal.loss(step, loss.item())
            if step % 200 == 0:
                journal.model(step, model)
        print(f"epoch {epoch + 1} loss {loss.item():.3f}", flush=True)
    journal.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=45)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    with tempfile.TemporaryDirectory() as folder:
        run(parser.parse_args(), folder)
