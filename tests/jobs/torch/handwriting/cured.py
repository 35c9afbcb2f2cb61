"""Digits with elastic deformation, as in Simard et al. 2003, and a small convolutional network."""
import argparse
import gzip
import math
import random
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

MNIST = Path(__file__).resolve().parents[4] / "data" / "mnist"


def load_digits(folder):
    with gzip.open(folder / "t10k-images-idx3-ubyte.gz") as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 28, 28)
    with gzip.open(folder / "t10k-labels-idx1-ubyte.gz") as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8)
    return images.astype(np.float32) / 255, labels.astype(np.int64)


def rotate(image, degrees, shift):
    """Rotates about the centre with bilinear interpolation."""
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    height, width = image.shape
    padded = np.pad(image, 1)
    y, x = np.mgrid[:height, :width] - 13.5
    u = cos * x + sin * y + 13.5 + shift
    v = -sin * x + cos * y + 13.5 + shift
    inside = (u >= 0) & (u < width - 1) & (v >= 0) & (v < height - 1)
    i, j = np.where(inside, v, 0).astype(int), np.where(inside, u, 0).astype(int)
    a, b = v - i, u - j
    result = ((1 - a) * (1 - b) * padded[i + 1, j + 1] + (1 - a) * b * padded[i + 1, j + 2]
              + a * (1 - b) * padded[i + 2, j + 1] + a * b * padded[i + 2, j + 2])
    return np.where(inside, result, 0).astype(image.dtype)


class Digits(Dataset):
    def __init__(self, folder):
        self.images, self.labels = load_digits(folder)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        image = rotate(self.images[index], random.uniform(-20, 20), random.uniform(-2, 2))
        return torch.from_numpy(image)[None], self.labels[index]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 5)
        self.conv2 = nn.Conv2d(32, 64, 5)
        self.fc1 = nn.Linear(1024, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--data", type=Path, default=MNIST)
    args = parser.parse_args()
    torch.manual_seed(0)
    loader = DataLoader(Digits(args.data), args.batch_size, shuffle=True, num_workers=args.workers, persistent_workers=args.workers > 0)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    step = 0
    while step < args.steps:
        for images, labels in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
            step += 1
            if step % 10 == 0:
                print(f"step {step}: loss {loss.item():.3f}", flush=True)
            if step >= args.steps:
                break


if __name__ == "__main__":
    main()
