"""Removes speckle from ultrasound images, with Lightning."""
import argparse
import tempfile

import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def scans(count, size=40, seed=0):
    """Ellipses of different brightness, with multiplicative noise."""
    generator = torch.Generator().manual_seed(seed)
    axis = torch.linspace(-1, 1, size)
    center = torch.rand(count, 2, generator=generator) - 0.5
    radius = 0.3 + 0.4 * torch.rand(count, 2, generator=generator)
    inside = (((axis[None, :, None] - center[:, 0, None, None]) / radius[:, 0, None, None]) ** 2
              + ((axis[None, None, :] - center[:, 1, None, None]) / radius[:, 1, None, None]) ** 2) < 1
    clean = 0.2 + 0.6 * inside.float()[:, None]
    return clean * (1 + 0.4 * torch.randn(count, 1, size, size, generator=generator)), clean


class Scans(L.LightningDataModule):
    def __init__(self, batch_size):
        super().__init__()
        self.batch_size = batch_size

    def setup(self, stage=None):
        self.train_data = TensorDataset(*scans(960))
        self.val_data = TensorDataset(*scans(40, seed=1))

    def train_dataloader(self):
        return DataLoader(self.train_data, batch_size=self.batch_size, shuffle=True, num_workers=0)

    def val_dataloader(self):
        return DataLoader(self.val_data, batch_size=self.batch_size, num_workers=0)


class Despeckle(L.LightningModule):
    def __init__(self, width=32, lr=0.05):
        super().__init__()
        self.lr = lr
        self.net = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
                                 nn.Conv2d(width, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, 1, 3, padding=1))

    def forward(self, x):
        return x - self.net(x)

    def training_step(self, batch, index):
        noisy, clean = batch
        loss = F.mse_loss(self(noisy), clean)
        self.log("loss", loss)
        if self.global_step % 20 == 0 and index % 2 == 0:
            print(f"step {self.global_step} loss {loss.item():.4f}", flush=True)
        return loss

    def validation_step(self, batch, index):
        noisy, clean = batch
        error = F.mse_loss(self(noisy), clean)
        self.log("psnr", -10 * torch.log10(error))

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=self.lr, momentum=0.9)
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=self.trainer.max_steps)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}


def cli():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=1800)
    parser.add_argument("--batch-size", type=int, default=8)
    return parser.parse_args()


def main(args):
    L.seed_everything(1)
    trainer = L.Trainer(max_steps=args.steps, max_epochs=-1, accelerator="cpu", accumulate_grad_batches=2, gradient_clip_val=1.0,
                        num_sanity_val_steps=0, enable_progress_bar=False, enable_model_summary=False, logger=False,
                        enable_checkpointing=False, default_root_dir=tempfile.gettempdir())
    trainer.fit(Despeckle(), datamodule=Scans(args.batch_size))
    print({name: round(float(value), 4) for name, value in trainer.callback_metrics.items()})


if __name__ == "__main__":
    main(cli())
