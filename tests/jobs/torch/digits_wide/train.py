"""Wide perceptron on digits."""
import argparse
import gzip
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

MNIST = Path(__file__).resolve().parents[4] / "data" / "mnist"


def load(folder):
    with gzip.open(folder / "t10k-images-idx3-ubyte.gz") as file:
        images = torch.from_numpy(np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784).copy())
    with gzip.open(folder / "t10k-labels-idx1-ubyte.gz") as file:
        labels = torch.from_numpy(np.frombuffer(file.read(), np.uint8, offset=8).copy())
    return images.float() / 255, labels.long()


def evaluate(model, images, labels):
    model.eval()
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        hits = sum((model(x).argmax(1) == y).sum() for x, y in zip(images.split(500), labels.split(500)))
    model.train()
    return hits.item() / len(labels)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--hidden", type=int, default=2048)
    args = parser.parse_args()
    torch.manual_seed(0)
    images, labels = load(MNIST)
    train = TensorDataset(images[:8000], labels[:8000])
    loader = DataLoader(train, batch_size=args.batch_size, shuffle=True, drop_last=True)
    model = nn.Sequential(nn.Linear(784, args.hidden), nn.ReLU(), nn.Linear(args.hidden, args.hidden), nn.ReLU(),
                          nn.Linear(args.hidden, args.hidden), nn.ReLU(), nn.Linear(args.hidden, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(1, args.epochs + 1):
        losses = []
        for x, y in loader:
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits = model(x)
            loss = nn.functional.cross_entropy(logits.float(), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        accuracy = evaluate(model, images[8000:], labels[8000:])
        print(f"epoch {epoch} loss {np.mean(losses):.4f} test accuracy {accuracy:.4f}", flush=True)


if __name__ == "__main__":
    main()
