"""A small GPT-2 that writes recipes, with Hugging Face's Trainer."""
import argparse
import random
import tempfile

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

PAD, BEGIN, END = 0, 1, 2
VOCABULARY = 600


class Recipes(Dataset):
    """A recipe goes round its own few ingredients."""

    def __init__(self, count, seed):
        rng = random.Random(seed)
        self.recipes = []
        for _ in range(count):
            cycle = rng.sample(range(3, VOCABULARY), rng.randint(3, 7))
            length = rng.randint(30, 46)
            self.recipes.append([BEGIN] + [cycle[i % len(cycle)] for i in range(length)] + [END])

    def __len__(self):
        return len(self.recipes)

    def __getitem__(self, index):
        return {"input_ids": torch.tensor(self.recipes[index])}


def collate(examples):
    ids = pad_sequence([example["input_ids"] for example in examples], batch_first=True, padding_value=PAD)
    return {"input_ids": ids, "attention_mask": (ids != PAD).long(), "labels": ids.masked_fill(ids == PAD, -100)}


def build_model():
    return GPT2LMHeadModel(GPT2Config(vocab_size=VOCABULARY, n_positions=64, n_embd=128, n_layer=3, n_head=4,
                                      bos_token_id=BEGIN, eos_token_id=END, pad_token_id=PAD))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--max-steps", type=int, default=1280)
    parser.add_argument("--batch-size", type=int, default=16)
    args = parser.parse_args()
    set_seed(3)
    with tempfile.TemporaryDirectory() as out:
        training_args = TrainingArguments(
            output_dir=out,
            max_steps=args.max_steps,
            per_device_train_batch_size=args.batch_size,
            per_device_eval_batch_size=args.batch_size,
            learning_rate=5e-4,
            lr_scheduler_type="cosine",
            warmup_steps=20,
            weight_decay=0.01,
            logging_steps=20,
            eval_strategy="steps",
            eval_steps=160,
            save_strategy="no",
            use_cpu=True,
            disable_tqdm=True,
            report_to="none",
        )
        trainer = Trainer(
            model=build_model(),
            args=training_args,
            data_collator=collate,
            train_dataset=Recipes(160 * args.batch_size, seed=0),
            eval_dataset=Recipes(192, seed=1),
        )
        trainer.train()
        print(trainer.evaluate())


if __name__ == "__main__":
    main()
