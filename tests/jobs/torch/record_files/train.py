"""Train a forecaster on windows of sensor records; the records are opened by each worker for itself."""
import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

WINDOW, HORIZON = 96, 8


def write_records(folder, stations=120, hours=3000):
    rng = np.random.default_rng(0)
    values = rng.standard_normal((stations, hours)).cumsum(1).astype(np.float32)
    values = (values - values.mean(1, keepdims=True)) / values.std(1, keepdims=True)
    np.save(folder / "values.npy", values)
    index = [{"station": s, "start": t, "quality": [1.0, 0.9, 0.8]} for s in range(stations) for t in range(0, 2800, 2)]
    (folder / "index.json").write_text(json.dumps(index))
    return len(index)


class Windows(Dataset):
    def __init__(self, folder, first, count):
        self.folder = folder
        self.first = first
        self.count = count
        self.index = None

    def open(self):
        self.values = np.load(self.folder / "values.npy", mmap_mode="r")
        self.index = json.loads((self.folder / "index.json").read_text())

    def __len__(self):
        return self.count

    def __getitem__(self, item):
        if self.index is None:
            self.open()
        entry = self.index[self.first + item]
        piece = np.array(self.values[entry["station"], entry["start"] : entry["start"] + WINDOW + HORIZON])
        return torch.from_numpy(piece[:WINDOW]), torch.from_numpy(piece[WINDOW:])


class Forecaster(nn.Module):
    def __init__(self, hidden=256):
        super().__init__()
        self.embed = nn.Conv1d(1, hidden, 8, stride=4)
        self.layers = nn.Sequential(nn.Conv1d(hidden, hidden, 3, padding=1), nn.ReLU(), nn.Conv1d(hidden, hidden, 3, padding=1), nn.ReLU())
        self.head = nn.Linear(hidden, HORIZON)

    def forward(self, x):
        return self.head(self.layers(self.embed(x[:, None])).mean(2))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--batch-size", type=int, default=64)
    args = parser.parse_args()
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        total = write_records(Path(folder))
        train = Windows(Path(folder), total // 4, 32 * args.batch_size)
        loader = DataLoader(train, batch_size=args.batch_size, shuffle=True, num_workers=2)
        model = Forecaster()
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        for epoch in range(1, args.epochs + 1):
            began, total_loss = time.time(), 0.0
            for past, future in loader:
                loss = nn.functional.mse_loss(model(past), future)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total_loss += loss.item()
            print(f"epoch {epoch:3d}  mse {total_loss / len(loader):.4f}  {time.time() - began:.2f} s", flush=True)


if __name__ == "__main__":
    main()
