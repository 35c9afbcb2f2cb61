"""Denoising autoencoder on sensor frames, with Lightning and a monitor of the weights."""
import argparse
import json
import tempfile
from pathlib import Path

import lightning as L
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def sensor_frames(count, size=256):
    generator = torch.Generator().manual_seed(0)
    phase = torch.rand(count, 4, 1, generator=generator) * 6.283
    speed = torch.randint(1, 12, (count, 4, 1), generator=generator).float()
    return torch.sin(phase + speed * torch.linspace(0, 6.283, size)).sum(1) / 4


class AutoEncoder(L.LightningModule):
    def __init__(self, size=256, hidden=512, code=32):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(size, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, code))
        self.decoder = nn.Sequential(nn.Linear(code, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, size))

    def training_step(self, batch, index):
        (frame,) = batch
        noisy = frame + 0.1 * torch.randn_like(frame)
        loss = nn.functional.mse_loss(self.decoder(self.encoder(noisy)), frame)
        if self.global_step % 50 == 0:
            print(f"step {self.global_step} mse {loss.item():.4f}", flush=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)


class WeightMonitor(L.Callback):
    """Keeps the distribution of each layer's weights for the report."""

    def __init__(self, path):
        self.file = open(path, "w")

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        if trainer.global_step % 100:
            return
        record = {"step": trainer.global_step}
        for name, parameter in module.named_parameters():
            values = parameter.detach().cpu().numpy().ravel()
            counts, edges = np.histogram(values, bins=50)
            record[name] = {"counts": counts.tolist(), "low": float(edges[0]), "high": float(edges[-1])}
        self.file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=800)
    parser.add_argument("--batch-size", type=int, default=128)
    args = parser.parse_args()
    L.seed_everything(1)
    out = Path(tempfile.mkdtemp(prefix="autoencoder"))
    loader = DataLoader(TensorDataset(sensor_frames(8192)), batch_size=args.batch_size, shuffle=True)
    trainer = L.Trainer(max_steps=args.steps, accelerator="cpu", callbacks=[WeightMonitor(out / "weights.jsonl")], logger=False,
                        enable_progress_bar=False, enable_model_summary=False, enable_checkpointing=False, default_root_dir=out)
    trainer.fit(AutoEncoder(), loader)
