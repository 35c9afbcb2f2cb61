"""Tags names in sentences with a small BERT and Hugging Face's Trainer."""
import argparse
import tempfile

import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForTokenClassification, Trainer, TrainingArguments, set_seed


class TaggedSentences(Dataset):
    """Sentences of ids that were tokenized before; a tag follows from the id and its neighbour."""

    def __init__(self, count, length=64, vocabulary=4000):
        generator = torch.Generator().manual_seed(0)
        self.ids = torch.randint(5, vocabulary, (count, length), generator=generator)
        is_name = self.ids % 7 == 0
        self.tags = torch.where(is_name, 1 + (self.ids.roll(1, 1) % 4), torch.zeros_like(self.ids))

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        return {"input_ids": self.ids[index], "attention_mask": torch.ones_like(self.ids[index]), "labels": self.tags[index]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--batch-size", type=int, default=16)
    args = parser.parse_args()
    set_seed(0)
    model = BertForTokenClassification(BertConfig(vocab_size=4000, hidden_size=384, num_hidden_layers=2, num_attention_heads=6,
                                                  intermediate_size=1536, max_position_embeddings=64, num_labels=5))
    with tempfile.TemporaryDirectory() as out:
        arguments = TrainingArguments(output_dir=out, max_steps=args.steps, per_device_train_batch_size=args.batch_size,
                                      learning_rate=0.05, optim="sgd", bf16=True, logging_steps=10, save_strategy="no",
                                      use_cpu=True, disable_tqdm=True, report_to="none")
        Trainer(model=model, args=arguments, train_dataset=TaggedSentences(160 * args.batch_size)).train()


if __name__ == "__main__":
    main()
