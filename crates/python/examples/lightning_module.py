"""The same in Lightning: a callback tells the dataset which epoch begins."""

import lightning
import torch
from plain_torch import data
from torch.utils.data import DataLoader, TensorDataset

from dissensus import Delivery
from dissensus.torch import VotesDataset, soft_cross_entropy


class SetEpoch(lightning.Callback):
    """Sets the epoch before its batches are loaded: Lightning makes an epoch's iterator before the epoch starts."""

    def __init__(self, dataset):
        self.dataset = dataset

    def on_fit_start(self, trainer, module):
        self.dataset.set_epoch(trainer.current_epoch)

    def on_train_epoch_end(self, trainer, module):
        self.dataset.set_epoch(trainer.current_epoch + 1)


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))
        self.seen = []

    def training_step(self, batch, _):
        inputs, target = batch
        self.seen.append((self.current_epoch, target))
        return soft_cross_entropy(self.net(inputs), target)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=0.01)


def train(method="multipass", epochs=3, workers=0):
    points, votes = data()
    delivery = Delivery(votes, method, seed=0)
    dataset = VotesDataset(TensorDataset(points), delivery)
    loader = DataLoader(dataset, batch_size=50, num_workers=workers, persistent_workers=workers > 0)
    model = Classifier()
    trainer = lightning.Trainer(
        max_epochs=epochs,
        accelerator="cpu",
        callbacks=[SetEpoch(dataset)],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(model, loader)
    return delivery, model


if __name__ == "__main__":
    train()
