"""Sentiment of reviews with a small BERT and Hugging Face's Trainer."""
import argparse
import random
import tempfile

import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

GOOD = "great lovely perfect sturdy quick bright happy solid".split()
BAD = "broken slow awful dull cheap late wrong noisy".split()
OTHER = "the a this that box lamp chair phone cable arrived bought used with for my two days week price".split()
WORDS = {word: index for index, word in enumerate(["[PAD]", "[CLS]", "[SEP]", "[UNK]"] + GOOD + BAD + OTHER)}


class Reviews(Dataset):
    def __init__(self, count, length=32, seed=0):
        rng = random.Random(seed)
        self.items = []
        for _ in range(count):
            label = rng.randint(0, 1)
            text = rng.choices(OTHER, k=length - 6) + rng.choices(GOOD if label else BAD, k=4)
            rng.shuffle(text)
            ids = [WORDS["[CLS]"]] + [WORDS[word] for word in text] + [WORDS["[SEP]"]]
            self.items.append((torch.tensor(ids), label))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        ids, label = self.items[index]
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": label}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch-size", type=int, default=8)
    args = parser.parse_args()
    set_seed(0)
    model = BertForSequenceClassification(BertConfig(vocab_size=30522, hidden_size=256, num_hidden_layers=2, num_attention_heads=4,
                                                     intermediate_size=1024, max_position_embeddings=64))
    with tempfile.TemporaryDirectory() as out:
        arguments = TrainingArguments(
            output_dir=out, max_steps=args.steps, per_device_train_batch_size=args.batch_size, learning_rate=1e-4,
            logging_steps=10, save_strategy="steps", save_steps=2, save_total_limit=3, use_cpu=True, disable_tqdm=True,
            report_to="none",
        )
        trainer = Trainer(model=model, args=arguments, train_dataset=Reviews(160 * args.batch_size))
        result = trainer.train()
        print(f"{result.metrics['train_samples_per_second']:.1f} samples/s")


if __name__ == "__main__":
    main()
