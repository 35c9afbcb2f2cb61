"""One model in PyTorch: `torch_peer.py MODEL BATCH [--compile]`, a plain training loop over digits held in memory.

The loop takes each batch by a shuffled index: faster than a DataLoader, which collates example by example.
"""

import argparse

import settings
import torch
from torch import nn


def build(model):
    if model == "M3":
        return nn.Sequential(nn.Unflatten(1, (1, 28, 28)), nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2),
                             nn.Flatten(), nn.Linear(13 * 13 * 32, settings.CLASSES))
    layers, inputs = [], 784
    for width in settings.HIDDEN[model]:
        layers += [nn.Linear(inputs, width), nn.ReLU()]
        inputs = width
    return nn.Sequential(*layers, nn.Linear(inputs, settings.CLASSES))


def run_epoch(network, optimizer, loss_function, images, labels, batch):
    total, matches = torch.zeros(()), torch.zeros((), dtype=torch.int64)
    for indices in torch.randperm(len(images)).split(batch):
        inputs, targets = images[indices], labels[indices]
        optimizer.zero_grad()
        outputs = network(inputs)
        loss = loss_function(outputs, targets)
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            total += loss
            matches += (outputs.argmax(1) == targets).sum()
    return total.item(), matches.item()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=["M1", "M2", "M3"])
    parser.add_argument("batch", type=int)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--compile", action="store_true", help="torch.compile, and the fused Adam")
    arguments = parser.parse_args()

    torch.set_num_threads(arguments.threads)
    torch.manual_seed(1)
    images, labels = settings.digits("train")
    examples = settings.epoch_examples(arguments.model, arguments.batch, len(images))
    images = torch.from_numpy(images[:examples])
    labels = torch.from_numpy(labels[:examples].argmax(1))
    network = build(arguments.model)
    optimizer = torch.optim.Adam(network.parameters(), settings.LEARNING_RATE, fused=arguments.compile or None)
    if arguments.compile:
        network = torch.compile(network)
    timer = settings.EpochTimer(examples // arguments.batch, arguments.seconds)
    while not timer.enough():
        timer.begin()
        run_epoch(network, optimizer, nn.CrossEntropyLoss(), images, labels, arguments.batch)
        timer.end()
    name = "torch.compile" if arguments.compile else "torch"
    settings.print_result(timer.result(system=name, version=torch.__version__))


if __name__ == "__main__":
    main()
