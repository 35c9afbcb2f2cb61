"""Click prediction: embeddings of many fields, small towers for each field, and a joint head."""
import argparse

import torch
from torch import nn

CARDINALITIES = [10 + 37 * i % 400 for i in range(48)]
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class ClickModel(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.embeddings = nn.ModuleList(nn.Embedding(n, width) for n in CARDINALITIES)
        self.towers = nn.ModuleList(nn.Sequential(nn.Linear(width, 24), nn.ReLU(), nn.Linear(24, width)) for _ in CARDINALITIES)
        self.head = nn.Sequential(nn.Linear(width * len(CARDINALITIES), 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, fields):
        parts = [tower(embedding(fields[:, i])) for i, (embedding, tower) in enumerate(zip(self.embeddings, self.towers))]
        return self.head(torch.cat(parts, 1)).squeeze(1)


def batches(rows, batch_size, generator):
    """Clicks depend on a few of the fields."""
    fields = torch.stack([torch.randint(0, n, (rows,), generator=generator) for n in CARDINALITIES], 1)
    clicked = ((fields[:, 3] % 3 == 0) ^ (fields[:, 7] % 2 == 0)).float()
    while True:
        order = torch.randperm(rows, generator=generator)
        for first in range(0, rows - batch_size + 1, batch_size):
            chosen = order[first : first + batch_size]
            yield fields[chosen].to(DEVICE), clicked[chosen].to(DEVICE)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--weight-decay", type=float, default=1e-4)
    args = parser.parse_args()
    torch.manual_seed(0)
    model = ClickModel().to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=args.weight_decay)
    criterion = nn.BCEWithLogitsLoss()
    running = 0.0
    for step, (fields, clicked) in enumerate(batches(100000, args.batch_size, torch.Generator().manual_seed(1)), 1):
        loss = criterion(model(fields), clicked)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.detach()
        if step % 50 == 0:
            print(f"step {step:5d} | loss {running.item() / 50:.4f}", flush=True)
            running = 0.0
        if step == args.steps:
            break


if __name__ == "__main__":
    main()
