"""One pipeline in PyTorch's loader, one worker process a thread: torch_line.py NAME DATA THREADS SECONDS."""

import pathlib
import sys

import numpy
import torch
from torch.utils.data import DataLoader, Dataset

import lines
import settings
import timing


class Digits(Dataset):
    def __init__(self, change, shape):
        images, labels = settings.digits("train")
        self.images = torch.from_numpy(images.reshape(-1, *shape))
        self.labels = torch.from_numpy(labels)
        self.change = change

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.change(self.images[index]), self.labels[index]


def flip_and_brightness(image):
    if torch.rand(()) < 0.5:
        image = image.flip(-1)
    return image + torch.empty(()).uniform_(-0.2, 0.2)


class Photographs(Dataset):
    def __init__(self, data):
        from PIL import Image

        self.open = Image.open
        self.size = (lines.TARGET_SIDE, lines.TARGET_SIDE)
        self.bilinear = Image.Resampling.BILINEAR
        self.paths = sorted(pathlib.Path(data, "images").glob("*.jpg"))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        image = self.open(self.paths[index])
        side = lines.IMAGE_SIDE // lines.DCT_RATIO
        image.draft("RGB", (side, side))
        pixels = numpy.asarray(image.convert("RGB").resize(self.size, self.bilinear))
        return torch.from_numpy(pixels.astype(numpy.float32))


def main():
    name, data, threads, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    torch.set_num_threads(1)
    make = {
        "augment": lambda: Digits(flip_and_brightness, (1, 28, 28)),
        "sqrt": lambda: Digits(torch.sqrt, (784,)),
        "jpeg": lambda: Photographs(data),
    }
    loader = DataLoader(make[name](), batch_size=lines.BATCH, shuffle=name != "sqrt", num_workers=threads,
                        persistent_workers=True, prefetch_factor=4)

    def epoch():
        for element in loader:
            first = element[0] if isinstance(element, (list, tuple)) else element
            yield len(first)

    timing.measure(epoch, seconds)


if __name__ == "__main__":
    main()
