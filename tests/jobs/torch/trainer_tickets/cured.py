"""Routes support tickets to one of six teams with a small DistilBERT and Hugging Face's Trainer."""
import argparse
import random
import re
import string
import tempfile
import unicodedata

import torch
from torch.utils.data import Dataset
from transformers import DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments, set_seed


class SubwordTokenizer:
    """Longest match first over a fixed list of pieces."""

    def __init__(self, pieces):
        self.pieces = {piece: index + 4 for index, piece in enumerate(pieces)}
        self.longest = max(map(len, pieces))

    def clean(self, text):
        text = unicodedata.normalize("NFKD", text).lower()
        text = "".join(c for c in text if not unicodedata.combining(c))
        return re.sub(r"[^a-z0-9 ]+", " ", text)

    def encode(self, text, length):
        ids = [1]
        for word in self.clean(text).split():
            position = 0
            while position < len(word):
                for end in range(min(len(word), position + self.longest), position, -1):
                    index = self.pieces.get(word[position:end])
                    if index is not None:
                        ids.append(index)
                        position = end
                        break
                else:
                    ids.append(3)
                    position += 1
        ids = ids[: length - 1] + [2]
        return ids + [0] * (length - len(ids))


def make_tickets(count):
    rng = random.Random(0)
    words = ["".join(rng.choices(string.ascii_lowercase, k=rng.randint(4, 11))) for _ in range(3000)]
    tickets = []
    for _ in range(count):
        team = rng.randint(0, 5)
        text = rng.choices(words, k=500)
        text[3:20] = rng.choices(words[team * 40 : team * 40 + 40], k=17)
        tickets.append((" ".join(text).capitalize() + ".", team))
    return tickets


class Tickets(Dataset):
    def __init__(self, tickets, tokenizer, length=48):
        self.tickets = tickets
        self.tokenizer = tokenizer
        self.length = length

    def __len__(self):
        return len(self.tickets)

    def __getitem__(self, index):
        text, team = self.tickets[index]
        ids = torch.tensor(self.tokenizer.encode(text, self.length))
        return {"input_ids": ids, "attention_mask": (ids != 0).long(), "labels": team}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=250)
    parser.add_argument("--batch-size", type=int, default=32)
    args = parser.parse_args()
    set_seed(0)
    letters = string.ascii_lowercase + string.digits
    rng = random.Random(1)
    pieces = list(letters) + sorted({"".join(rng.choices(string.ascii_lowercase, k=rng.choice([2, 2, 3]))) for _ in range(1500)})
    data = Tickets(make_tickets(4000), SubwordTokenizer(pieces))
    model = DistilBertForSequenceClassification(DistilBertConfig(vocab_size=2000, dim=96, n_layers=2, n_heads=4, hidden_dim=256,
                                                                 max_position_embeddings=64, num_labels=6))
    with tempfile.TemporaryDirectory() as out:
        arguments = TrainingArguments(output_dir=out, max_steps=args.steps, per_device_train_batch_size=args.batch_size,
                                      learning_rate=5e-4, logging_steps=10, save_strategy="no", use_cpu=True,
                                      disable_tqdm=True, report_to="none", dataloader_num_workers=2,
                                      dataloader_persistent_workers=True)
        Trainer(model=model, args=arguments, train_dataset=data).train()


if __name__ == "__main__":
    main()
