"""Residual perceptron for the energy of a building, with a log of the network's weights and gradients."""
import argparse
import csv
import tempfile
from pathlib import Path

import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


class Energy(nn.Module):
    def __init__(self, features, width=192, depth=6):
        super().__init__()
        self.inputs = nn.Linear(features, width)
        self.blocks = nn.ModuleList(Residual(width) for _ in range(depth))
        self.output = nn.Linear(width, 1)

    def forward(self, x):
        x = self.inputs(x)
        for block in self.blocks:
            x = block(x)
        return self.output(x).squeeze(1)


class WeightLog:
    def __init__(self, path):
        self.file = open(path, "w", newline="")
        self.writer = csv.writer(self.file)
        self.writer.writerow(["step", "name", "mean", "std", "max", "grad_norm", "histogram"])

    def write(self, step, model):
        for name, parameter in model.named_parameters():
            histogram = torch.histc(parameter.detach(), bins=20)
            self.writer.writerow([step, name, parameter.mean().item(), parameter.std().item(), parameter.abs().max().item(),
                                  parameter.grad.norm().item(), histogram.tolist()])
        self.file.flush()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    torch.manual_seed(0)
    out = args.out or Path(tempfile.mkdtemp(prefix="energy"))

    features = torch.randn(50000, 24)
    target = torch.sin(features[:, 0] * 2) + features[:, 1] * features[:, 2] + 0.1 * torch.randn(50000)
    model = Energy(24)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    log = WeightLog(out / "weights.csv")
    for step in range(1, args.steps + 1):
        rows = torch.randint(0, len(features), (args.batch_size,))
        loss = nn.functional.mse_loss(model(features[rows]), target[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            log.write(step, model)
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    torch.save(model.state_dict(), out / "model.pt")


if __name__ == "__main__":
    main()
