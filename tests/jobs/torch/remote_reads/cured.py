"""Train a speech command classifier on clips that lie in an object store."""
import argparse
import logging
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

log = logging.getLogger("commands")
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class ObjectStore:
    """Stands in for a bucket: every read is a round trip."""

    def __init__(self, objects, round_trip=0.0025):
        self.objects = objects
        self.round_trip = round_trip

    def read(self, key):
        time.sleep(self.round_trip)
        rng = np.random.default_rng(key)
        label = key % 12
        noise = rng.standard_normal((40, 64), dtype=np.float32)
        noise[3 * label : 3 * label + 3] += 1.0
        return noise.tobytes(), label


class SpeechCommands(Dataset):
    def __init__(self, store):
        self.store = store

    def __len__(self):
        return self.store.objects

    def __getitem__(self, index):
        blob, label = self.store.read(index)
        mel = np.frombuffer(blob, dtype=np.float32).reshape(1, 40, 64)
        return torch.tensor(mel), label


class Net(nn.Module):
    def __init__(self, classes=12):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, padding=1)
        self.conv2 = nn.Conv2d(32, 48, 3, stride=2, padding=1)
        self.conv3 = nn.Conv2d(48, 64, 3, stride=2, padding=1)
        self.head = nn.Linear(64, classes)

    def forward(self, x):
        x = torch.relu(self.conv1(x))
        x = torch.relu(self.conv2(x))
        x = torch.relu(self.conv3(x))
        return self.head(x.mean((2, 3)))


def train(model, loader, optimizer, steps):
    criterion = nn.CrossEntropyLoss()
    step, correct, seen = 0, 0, 0
    while step < steps:
        for mel, label in loader:
            logits, label = model(mel.to(device)), label.to(device)
            loss = criterion(logits, label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            correct += (logits.argmax(1) == label).sum().item()
            seen += len(label)
            if step % 25 == 0:
                log.info("step %d loss %.3f accuracy %.3f", step, loss.item(), correct / seen)
                correct, seen = 0, 0
            if step == steps:
                return


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--batch-size", type=int, default=16)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    torch.manual_seed(1)
    loader = DataLoader(SpeechCommands(ObjectStore(20000)), batch_size=args.batch_size, shuffle=True,
                        num_workers=4, persistent_workers=True)
    net = Net().to(device)
    train(net, loader, torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9), args.steps)
