"""Next move of a price from the order book: a small transformer."""
import argparse
import random
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    levels: int = 20
    window: int = 50
    width: int = 96
    heads: int = 4
    layers: int = 2
    hidden: int = 256
    batch_size: int = 32
    steps: int = 1400
    lr: float = 0.02
    seed: int = 7
    threads: int = 16


def setup(config):
    random.seed(config.seed)
    torch.manual_seed(config.seed)
    torch.set_num_threads(config.threads)


def order_book(config, length=20000):
    """Volumes of both sides; the price follows their imbalance."""
    volumes = torch.rand(length, 2 * config.levels).cumsum(1)
    imbalance = volumes[:, : config.levels].mean(1) - volumes[:, config.levels :].mean(1)
    move = imbalance + 0.3 * torch.randn(length)
    low, high = move.quantile(torch.tensor([0.33, 0.67]))
    return (volumes - volumes.mean(0)) / volumes.std(0), (move > low).long() + (move > high).long()


class BookTransformer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.inputs = nn.Linear(2 * config.levels, config.width)
        self.position = nn.Parameter(0.02 * torch.randn(config.window, config.width))
        layer = nn.TransformerEncoderLayer(config.width, config.heads, config.hidden, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, config.layers)
        self.head = nn.Linear(config.width, 3)

    def forward(self, x):
        return self.head(self.encoder(self.inputs(x) + self.position)[:, -1])


def batches(book, moves, config):
    offsets = torch.arange(config.window)
    for _ in range(config.steps):
        start = torch.randint(0, len(book) - config.window, (config.batch_size,))
        rows = start[:, None] + offsets
        yield book[rows], moves[rows[:, -1]]


def train(config):
    setup(config)
    model = BookTransformer(config)
    optimizer = torch.optim.SGD(model.parameters(), lr=config.lr, momentum=0.9)
    warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 100))
    criterion = nn.CrossEntropyLoss()
    for step, (x, y) in enumerate(batches(*order_book(config), config), start=1):
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        warmup.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=Config.steps)
    train(Config(steps=parser.parse_args().steps))
