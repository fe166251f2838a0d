"""Keras 3 on any backend: a callback tells the dataset which epoch begins."""

import os

os.environ.setdefault("KERAS_BACKEND", "jax")

import keras  # noqa: E402
import numpy as np  # noqa: E402

from dissensus import Delivery, Votes  # noqa: E402


class Labels(keras.utils.PyDataset):
    """Batches of inputs with the labels of an epoch."""

    def __init__(self, inputs, delivery, batch=32):
        super().__init__()
        self.inputs, self.delivery, self.batch = inputs, delivery, batch
        self.set_epoch(0)

    def set_epoch(self, epoch):
        self.epoch, self.labels = epoch, self.delivery.labels(epoch)

    def __len__(self):
        return -(-len(self.inputs) // self.batch)

    def __getitem__(self, index):
        rows = slice(index * self.batch, (index + 1) * self.batch)
        return self.inputs[rows], self.labels[rows]


class SetEpoch(keras.callbacks.Callback):
    def __init__(self, labels):
        super().__init__()
        self.labels = labels

    def on_epoch_begin(self, epoch, logs=None):
        self.labels.set_epoch(epoch)


def train(epochs=3, items=96):
    random = np.random.default_rng(0)
    inputs = random.normal(size=(items, 4)).astype("float32")
    votes = Votes.from_counts(random.integers(1, 6, (items, 3)))
    labels = Labels(inputs, Delivery(votes, "sls", seed=0))
    model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(3)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    history = model.fit(labels, epochs=epochs, verbose=0, shuffle=False, callbacks=[SetEpoch(labels)])
    return labels, history.history["loss"]


if __name__ == "__main__":
    print(train()[1])
