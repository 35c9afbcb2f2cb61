"""Character-level transformer on the sources of Python's standard library."""
import argparse
import math
import os
import time
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F


def load_text(limit=2_000_000):
    folder = Path(os.__file__).parent
    text = "".join(path.read_text(errors="ignore") for path in sorted(folder.glob("*.py")))[:limit]
    data = torch.frombuffer(bytearray(text.encode("ascii", "ignore")), dtype=torch.uint8)
    return data.long().clamp_(max=127)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.projection = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width))

    def forward(self, x, mask):
        batch, time_, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, time_, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / math.sqrt(width // self.heads) + mask
        x = x + self.projection((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, time_, width))
        return x + self.mlp(self.norm2(x))


class CharLM(nn.Module):
    def __init__(self, vocabulary=128, context=64, width=384, heads=6, layers=3):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Parameter(torch.zeros(context, width))
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.head = nn.Linear(width, vocabulary)
        self.register_buffer("mask", torch.full((context, context), float("-inf")).triu(1))

    def forward(self, x):
        x = self.tokens(x) + self.positions
        for block in self.blocks:
            x = block(x, self.mask)
        return self.head(x)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--context", type=int, default=64)
    args = parser.parse_args()
    torch.manual_seed(0)
    data = load_text()
    model = CharLM(context=args.context)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    losses, begin = [], time.time()
    for step in range(1, args.steps + 1):
        starts = torch.randint(0, len(data) - args.context - 1, (args.batch_size,)).tolist()
        x = torch.stack([data[i : i + args.context] for i in starts])
        y = torch.stack([data[i + 1 : i + 1 + args.context] for i in starts])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(x)
        loss = F.cross_entropy(logits.float().flatten(0, 1), y.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
        if step % 10 == 0:
            print(f"step {step}: loss {sum(losses[-10:]) / 10:.3f}, {(time.time() - begin) / step * 1e3:.0f} ms/step", flush=True)


if __name__ == "__main__":
    main()
