"""Fine-tuning a transformer on votes with the Trainer of Hugging Face, which calls set_epoch itself.

The transformer is a tiny one made from a configuration, so that nothing is downloaded.
"""

import tempfile

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

from dissensus import Delivery, Votes
from dissensus.torch import VotesDataset, soft_cross_entropy


class Texts(torch.utils.data.Dataset):
    """Texts as token numbers."""

    def __init__(self, tokens):
        self.tokens = tokens

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, index):
        tokens = self.tokens[index]
        return {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}


class VotesTrainer(Trainer):
    """A trainer whose loss takes labels and distributions."""

    seen = ()

    def compute_loss(self, model, inputs, return_outputs=False, **_):
        target = inputs.pop("labels")
        self.seen = (*self.seen, (self.state.epoch, target))
        outputs = model(**inputs)
        loss = soft_cross_entropy(outputs.logits, target)
        return (loss, outputs) if return_outputs else loss


def train(method="multipass", epochs=3, items=64, workers=0):
    draw = torch.Generator().manual_seed(0)
    tokens = torch.randint(1, 100, (items, 12), generator=draw)
    votes = Votes.from_counts(torch.randint(1, 5, (items, 3), generator=draw), classes=["e", "n", "c"])
    delivery = Delivery(votes, method, seed=0)
    dataset = VotesDataset(Texts(tokens), delivery)
    config = BertConfig(
        vocab_size=100, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, num_labels=3
    )
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            folder,
            num_train_epochs=epochs,
            per_device_train_batch_size=16,
            use_cpu=True,
            report_to=[],
            save_strategy="no",
            logging_strategy="no",
            disable_tqdm=True,
            remove_unused_columns=False,
            dataloader_num_workers=workers,
            dataloader_persistent_workers=workers > 0,
        )
        trainer = VotesTrainer(BertForSequenceClassification(config), arguments, train_dataset=dataset)
        trainer.train()
    return delivery, trainer


if __name__ == "__main__":
    train()
