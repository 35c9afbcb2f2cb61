"""Topic classifier over bags of words, with Lightning in bfloat16."""
import argparse
import tempfile

import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def documents(count, vocabulary, topics):
    generator = torch.Generator().manual_seed(0)
    topic = torch.randint(0, topics, (count,), generator=generator)
    rates = torch.rand(topics, vocabulary, generator=generator) ** 4
    return torch.poisson(rates[topic], generator=generator), topic


class TopicNet(L.LightningModule):
    def __init__(self, vocabulary=2000, hidden=2048, topics=20):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(vocabulary, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, topics))

    def step(self, batch):
        words, topic = batch
        logits = self.net(words.log1p())
        return F.cross_entropy(logits.float(), topic), (logits.argmax(1) == topic).float().mean()

    def training_step(self, batch, index):
        loss, accuracy = self.step(batch)
        if index % 10 == 0:
            print(f"step {self.global_step} loss {loss.item():.3f} accuracy {accuracy.item():.3f}", flush=True)
        return loss

    def validation_step(self, batch, index):
        loss, accuracy = self.step(batch)
        self.log_dict({"val_loss": loss, "val_accuracy": accuracy})

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--batch-size", type=int, default=256)
    args = parser.parse_args()
    L.seed_everything(2)
    words, topic = documents(12000, 2000, 20)
    train = DataLoader(TensorDataset(words[:11520], topic[:11520]), args.batch_size, shuffle=True)
    valid = DataLoader(TensorDataset(words[11520:], topic[11520:]), args.batch_size)
    trainer = L.Trainer(max_steps=args.steps, accelerator="cpu", precision="bf16-mixed", logger=False, enable_progress_bar=False,
                        enable_model_summary=False, enable_checkpointing=False, default_root_dir=tempfile.gettempdir())
    trainer.fit(TopicNet(), train, valid)
