"""Synthetic loan applications: a diffusion model of the rows of a table."""
import argparse
from dataclasses import dataclass, fields

import torch
import torch.nn.functional as F
from torch import nn

from utils_cured import Average, clip_by_layer


@dataclass
class Config:
    rows: int = 20000
    columns: int = 24
    width: int = 64
    blocks: int = 32
    batch_size: int = 64
    steps: int = 3500
    lr: float = 1e-3
    noise_levels: int = 200
    clip: float = 0.05
    decay: float = 0.999

    @classmethod
    def from_command_line(cls):
        parser = argparse.ArgumentParser()
        for field in fields(cls):
            parser.add_argument("--" + field.name.replace("_", "-"), type=field.type, default=field.default)
        return cls(**vars(parser.parse_args()))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.level = nn.Linear(width, width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x, level):
        return x + self.down(F.silu(self.up(self.norm(x) + self.level(level))))


class Denoiser(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.levels = nn.Embedding(config.noise_levels, config.width)
        self.first = nn.Linear(config.columns, config.width)
        self.blocks = nn.ModuleList(Block(config.width) for _ in range(config.blocks))
        self.last = nn.Linear(config.width, config.columns)

    def forward(self, x, t):
        level = self.levels(t)
        x = self.first(x)
        for block in self.blocks:
            x = block(x, level)
        return self.last(x)


class Trainer:
    def __init__(self, model, config):
        self.model, self.config = model, config
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=config.lr, fused=True)
        self.average = Average(model, config.decay)
        self.alphas = torch.cumprod(1 - torch.linspace(1e-4, 0.05, config.noise_levels), 0)

    def loss(self, rows):
        t = torch.randint(0, self.config.noise_levels, (len(rows),))
        alpha = self.alphas[t][:, None]
        noise = torch.randn_like(rows)
        return F.mse_loss(self.model(alpha.sqrt() * rows + (1 - alpha).sqrt() * noise, t), noise)

    def step(self, rows):
        self.optimizer.zero_grad()
        loss = self.loss(rows)
        loss.backward()
        clip_by_layer(self.model, self.config.clip)
        self.optimizer.step()
        self.average.update(self.model)
        return loss

    def fit(self, table):
        for number in range(1, self.config.steps + 1):
            loss = self.step(table[torch.randint(0, len(table), (self.config.batch_size,))])
            if number % 50 == 0:
                print(f"step {number} loss {loss.item():.4f}", flush=True)


def applications(rows, columns):
    """Columns that depend on a few hidden ones."""
    hidden = torch.randn(rows, 5)
    table = torch.tanh(hidden @ torch.randn(5, columns)) + 0.1 * torch.randn(rows, columns)
    return (table - table.mean(0)) / table.std(0)


if __name__ == "__main__":
    config = Config.from_command_line()
    torch.manual_seed(0)
    Trainer(Denoiser(config), config).fit(applications(config.rows, config.columns))
