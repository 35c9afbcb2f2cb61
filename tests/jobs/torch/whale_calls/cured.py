"""Species of whale from two seconds of sound; cross-validated."""
import argparse
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Subset

from data_cured import CLASSES, Clips, synthesize


class CallNet(nn.Module):
    def __init__(self, classes, width=16):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, width, 64, stride=4), nn.BatchNorm1d(width), nn.ReLU(),
            nn.Conv1d(width, 2 * width, 16, stride=4), nn.BatchNorm1d(2 * width), nn.ReLU(),
            nn.Conv1d(2 * width, 4 * width, 8, stride=4), nn.ReLU(),
        )
        self.head = nn.Linear(4 * width, classes)

    def forward(self, x):
        return self.head(self.features(x).mean(-1))


def accuracy(model, loader):
    model.eval()
    hits = total = 0
    with torch.no_grad():
        for x, y in loader:
            hits += (model(x).argmax(1) == y).sum().item()
            total += len(y)
    model.train()
    return hits / total


def train_fold(clips, train_rows, test_rows, args, done):
    loader = DataLoader(Subset(clips, train_rows.tolist()), batch_size=args.batch_size, shuffle=True, drop_last=True)
    model = CallNet(len(CLASSES))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
    for epoch in range(args.epochs):
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            done += 1
            if done % 12 == 0:
                print(f"step {done} loss {loss.item():.3f}", flush=True)
    return accuracy(model, DataLoader(Subset(clips, test_rows.tolist()), batch_size=64)), done


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folds", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=14)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--lr", type=float, default=0.02)
    args = parser.parse_args()
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        synthesize(folder)
        clips = Clips(folder)
        parts = np.array_split(np.random.default_rng(0).permutation(len(clips)), args.folds)
        scores, done = [], 0
        for fold in range(args.folds):
            train_rows = np.concatenate([part for number, part in enumerate(parts) if number != fold])
            score, done = train_fold(clips, train_rows, parts[fold], args, done)
            scores.append(score)
            print(f"fold {fold} accuracy {score:.3f}", flush=True)
    print(f"accuracy {np.mean(scores):.3f} +- {np.std(scores):.3f}")


if __name__ == "__main__":
    main()
