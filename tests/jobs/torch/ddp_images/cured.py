"""Image classifier with DistributedDataParallel: torchrun --nproc_per_node 2 train.py"""
import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def stripes(count, size=32):
    """Images with stripes of one of eight directions."""
    generator = torch.Generator().manual_seed(0)
    label = torch.randint(0, 8, (count,), generator=generator)
    angle = label * 3.14159 / 8
    axis = torch.arange(size).float()
    wave = angle.cos()[:, None, None] * axis[None, :, None] + angle.sin()[:, None, None] * axis[None, None, :]
    return wave.sin()[:, None] + 0.5 * torch.randn(count, 1, size, size, generator=generator), label


def conv(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch-size", type=int, default=32)
    args = parser.parse_args()
    torch.set_num_threads(max(1, os.cpu_count() // int(os.environ["LOCAL_WORLD_SIZE"])))
    torch.manual_seed(0)
    dist.init_process_group("gloo")
    rank = dist.get_rank()

    images, labels = stripes(6400)
    data = TensorDataset(images, labels)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=args.batch_size, sampler=sampler, drop_last=True)
    net = nn.Sequential(conv(1, 24), conv(24, 24), nn.MaxPool2d(2), conv(24, 48), conv(48, 48), nn.MaxPool2d(2), conv(48, 64),
                        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 8))
    model = DistributedDataParallel(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    step, epoch = 0, 0
    while step < args.steps:
        sampler.set_epoch(epoch)
        epoch += 1
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            step += 1
            if rank == 0 and step % 10 == 0:
                print(f"step {step} loss {loss.item():.3f}", flush=True)
            if step >= args.steps:
                break
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
