"""Train a perceptron on thumbnails of a folder of photographs."""
import argparse
import random
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageOps
from torch import nn
from torch.utils.data import DataLoader, Dataset


def make_photos(folder, classes, per_class, size):
    rng = np.random.default_rng(0)
    for label in range(classes):
        (folder / str(label)).mkdir(parents=True)
        for index in range(per_class):
            coarse = rng.integers(0, 255, (12, 16, 3), dtype=np.uint8)
            coarse[..., label % 3] //= 2
            Image.fromarray(coarse).resize(size, Image.BICUBIC).save(folder / str(label) / f"{index}.jpg", quality=90)


class PhotoFolder(Dataset):
    def __init__(self, root, size=24):
        self.size = size
        self.files = sorted(root.glob("*/*.jpg"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        path = self.files[index]
        image = Image.open(path).convert("RGB")
        if random.random() < 0.5:
            image = ImageOps.mirror(image)
        image = image.resize((self.size, self.size), Image.BILINEAR)
        pixels = torch.from_numpy(np.array(image)).permute(2, 0, 1).float().div_(255)
        return pixels, int(path.parent.name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--lr", type=float, default=0.01)
    args = parser.parse_args()
    torch.manual_seed(0)

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make_photos(root, classes=8, per_class=200, size=(640, 480))
        loader = DataLoader(PhotoFolder(root), batch_size=args.batch_size, shuffle=True, drop_last=True)
        model = nn.Sequential(nn.Flatten(), nn.Linear(3 * 24 * 24, 256), nn.ReLU(), nn.Linear(256, 8))
        optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
        loss_fn = nn.CrossEntropyLoss()
        step, begin = 0, time.time()
        while step < args.steps:
            for images, labels in loader:
                optimizer.zero_grad()
                loss = loss_fn(model(images), labels)
                loss.backward()
                optimizer.step()
                step += 1
                if step % 20 == 0:
                    print(f"step {step}  loss {loss.item():.4f}  {time.time() - begin:.1f} s", flush=True)
                if step >= args.steps:
                    break


if __name__ == "__main__":
    main()
