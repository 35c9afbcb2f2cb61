"""Where rivers run, from heights of terrain: a small U-Net."""
import argparse
import copy
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import DataLoader, IterableDataset
from tqdm import tqdm


class Terrain(IterableDataset):
    """Whole batches from a map that lies in memory."""

    def __init__(self, tiles, batch_size, batches, size=48, seed=0):
        generator = torch.Generator().manual_seed(seed)
        noise = torch.randn(tiles, 1, size + 8, size + 8, generator=generator)
        self.heights = F.avg_pool2d(noise, 9, stride=1) * 9
        self.rivers = (self.heights < self.heights.flatten(1).quantile(0.2, dim=1)[:, None, None, None]).float()
        self.batch_size, self.batches = batch_size, batches

    def __len__(self):
        return self.batches

    def __iter__(self):
        for _ in range(self.batches):
            rows = torch.randint(0, len(self.heights), (self.batch_size,))
            yield self.heights[rows], self.rivers[rows]


def double_conv(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.GroupNorm(4, outputs), nn.ReLU(),
                         nn.Conv2d(outputs, outputs, 3, padding=1), nn.GroupNorm(4, outputs), nn.ReLU())


class UNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.down = double_conv(1, width)
        self.middle = double_conv(width, 2 * width)
        self.up = double_conv(3 * width, width)
        self.head = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        fine = self.down(x)
        coarse = self.middle(F.max_pool2d(fine, 2))
        coarse = F.interpolate(coarse, scale_factor=2.0, mode="nearest")
        return self.head(self.up(torch.cat([fine, coarse], 1)))


def find_rate(model, loader, low=1e-3, high=1.0, tries=25):
    """The learning rate at which the loss falls best, divided by three."""
    trial = copy.deepcopy(model)
    optimizer = torch.optim.SGD(trial.parameters(), lr=low, momentum=0.9)
    best, rate = math.inf, low
    for number, (x, y) in zip(range(tries), loader):
        optimizer.param_groups[0]["lr"] = low * (high / low) ** (number / (tries - 1))
        optimizer.zero_grad()
        loss = F.binary_cross_entropy_with_logits(trial(x), y)
        loss.backward()
        optimizer.step()
        if loss.item() < best:
            best, rate = loss.item(), optimizer.param_groups[0]["lr"]
    return min(max(rate / 3, 0.005), 0.1)


@torch.no_grad()
def overlap(model, loader):
    model.eval()
    both = either = 0.0
    for x, y in loader:
        guess = (model(x) > 0).float()
        both += (guess * y).sum().item()
        either += torch.maximum(guess, y).sum().item()
    return both / either


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=14)
    parser.add_argument("--steps-per-epoch", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=6)
    parser.add_argument("--accumulate", type=int, default=2)
    args = parser.parse_args()
    torch.manual_seed(0)
    train_set = Terrain(400, args.batch_size, args.steps_per_epoch * args.accumulate)
    loader = DataLoader(train_set, batch_size=None, num_workers=0)
    held_out = DataLoader(Terrain(20, args.batch_size, 5, seed=1), batch_size=None)
    model = UNet()
    rate = find_rate(model, loader)
    print(f"learning rate {rate:.4f}", flush=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9, nesterov=True)
    average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.99))
    for epoch in range(1, args.epochs + 1):
        model.train()
        bar = tqdm(loader, desc=f"epoch {epoch}", mininterval=2)
        for number, (x, y) in enumerate(bar, start=1):
            loss = F.binary_cross_entropy_with_logits(model(x), y) / args.accumulate
            loss.backward()
            if number % args.accumulate == 0:
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
                average.update_parameters(model)
            if number % 100 == 0:
                bar.set_postfix(loss=f"{args.accumulate * loss.item():.3f}")
        print(f"finished {epoch} overlap {overlap(average, held_out):.3f}", flush=True)


if __name__ == "__main__":
    main()
