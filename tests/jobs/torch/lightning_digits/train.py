"""Digits with Lightning."""
import argparse
import gzip
import tempfile
from pathlib import Path

import lightning as L
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

MNIST = Path(__file__).resolve().parents[4] / "data" / "mnist"


class Digits(L.LightningDataModule):
    def __init__(self, batch_size):
        super().__init__()
        self.batch_size = batch_size

    def setup(self, stage):
        with gzip.open(MNIST / "t10k-images-idx3-ubyte.gz") as file:
            images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 1, 28, 28).astype(np.float32) / 255
        with gzip.open(MNIST / "t10k-labels-idx1-ubyte.gz") as file:
            labels = np.frombuffer(file.read(), np.uint8, offset=8).astype(np.int64)
        data = TensorDataset(torch.from_numpy(images), torch.from_numpy(labels))
        self.train = torch.utils.data.Subset(data, range(9000))
        self.test = torch.utils.data.Subset(data, range(9000, 10000))

    def train_dataloader(self):
        return DataLoader(self.train, batch_size=self.batch_size, shuffle=True, drop_last=True)

    def val_dataloader(self):
        return DataLoader(self.test, batch_size=self.batch_size)


class LitNet(L.LightningModule):
    def __init__(self, lr=0.02):
        super().__init__()
        self.lr = lr
        self.net = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1),
                                 nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32 * 49, 128), nn.ReLU(), nn.Linear(128, 10))

    def training_step(self, batch, index):
        x, y = batch
        loss = F.cross_entropy(self.net(x), y)
        if self.global_step % 20 == 0:
            print(f"step {self.global_step} loss {loss.item():.3f}", flush=True)
        return loss

    def validation_step(self, batch, index):
        x, y = batch
        logits = self.net(x)
        self.log("val_loss", F.cross_entropy(logits, y))
        self.log("val_accuracy", (logits.argmax(1) == y).float().mean())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.lr, momentum=0.9)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--batch-size", type=int, default=64)
    args = parser.parse_args()
    L.seed_everything(0)
    trainer = L.Trainer(max_steps=args.steps, accelerator="cpu", val_check_interval=10, num_sanity_val_steps=0,
                        enable_progress_bar=False, enable_model_summary=False, logger=False, enable_checkpointing=False,
                        default_root_dir=tempfile.gettempdir())
    trainer.fit(LitNet(), Digits(args.batch_size))
    print({name: round(float(value), 4) for name, value in trainer.callback_metrics.items()})
