"""Clips of a hydrophone: one compressed archive for each hour."""
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import Dataset

RATE = 2000
SAMPLES = 2 * RATE
CLASSES = ["blue", "fin", "humpback", "minke"]


def synthesize(folder, hours=24, clips=32, seed=0):
    """Upward sweeps in noise; each species begins at another frequency."""
    rng = np.random.default_rng(seed)
    t = np.arange(SAMPLES) / RATE
    for hour in range(hours):
        label = rng.integers(0, len(CLASSES), clips)
        start = 60 + 120 * label[:, None] + rng.normal(0, 10, (clips, 1))
        sweep = rng.uniform(20, 120, (clips, 1))
        wave = np.sin(2 * np.pi * (start * t + 0.5 * sweep * t**2))
        audio = (3000 * wave + 4000 * rng.standard_normal((clips, SAMPLES))).astype(np.int16)
        np.savez_compressed(Path(folder) / f"hour{hour:02d}.npz", audio=audio, label=label)


class Clips(Dataset):
    def __init__(self, folder):
        self.files = sorted(Path(folder).glob("hour*.npz"))
        with np.load(self.files[0]) as archive:
            self.per_file = len(archive["label"])

    def __len__(self):
        return len(self.files) * self.per_file

    def __getitem__(self, index):
        number, row = divmod(index, self.per_file)
        with np.load(self.files[number]) as archive:
            audio = archive["audio"][row].astype(np.float32)
            label = int(archive["label"][row])
        audio = (audio - audio.mean()) / (audio.std() + 1e-6)
        return torch.from_numpy(audio)[None], label
