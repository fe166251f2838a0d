"""Scores of a million predictions beside numpy + scipy + relplot, and an MLP head beside the same loop in PyTorch."""

import os
import sys
from pathlib import Path

import numpy as np
from run import best, row

from dissensus import Votes, fit, score

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "science"))

ITEMS, CLASSES = 1_000_000, 10
# Items, features, classes and batch size of POPQUORN's head; its width and its share of dropped units.
HEAD = (3_700, 384, 5, 8)
HIDDEN, DROPOUT, EPOCHS = 256, 0.1, 3


def rows(repeats):
    return [*scores(repeats), *heads(repeats)]


def scores(repeats):
    """Every metric without intervals, from logits to numbers; the peer is that of bench/science."""
    try:
        from peers import everything
    except ImportError as error:
        print(f"SKIPPED: score ({error})")
        return []
    random = np.random.default_rng(0)
    counts = np.floor(random.random((ITEMS, CLASSES)) ** 4 * 8).astype(np.int64)
    counts[np.arange(ITEMS), random.integers(0, CLASSES, ITEMS)] += 3
    logits = (random.random(counts.shape) * 2 - 1) * 2 + 3 * counts / counts.sum(1, keepdims=True)
    votes = Votes.from_counts(counts)
    given = np.zeros(ITEMS, int)

    def ours():
        return score(votes, logits, kind="logits", metrics="all", labels=given, replicates=0, progress=False)

    mine, peer = best(repeats, ours, lambda: everything(counts.astype(float), logits))
    what = f"score: all metrics, {ITEMS:,} items, {CLASSES} classes"
    return [row(what, mine, peer, "numpy + scipy + relplot", 10)]


def heads(repeats):
    """Whole epochs of training; both start with their data in memory."""
    try:
        import torch
        from torch import nn
    except ImportError as error:
        print(f"SKIPPED: fit ({error})")
        return []
    items, width, classes, batch = HEAD
    random = np.random.default_rng(0)
    X = random.normal(size=(items, width)).astype(np.float32)
    votes = Votes.from_counts(random.multinomial(10, np.full(classes, 1 / classes), items))
    settings = dict(optimizer="adam", learning_rate=1e-3, schedule="constant", batch_size=batch, hidden=HIDDEN,
                    dropout=DROPOUT, split={"train": 0.8, "evaluation": 0.2}, progress=False)

    def ours():
        return fit(votes, X, "soft", "mlp", epochs=EPOCHS, **settings)

    torch.set_num_threads(os.cpu_count() or 1)
    train = 4 * items // 5
    x, y = torch.from_numpy(X), torch.from_numpy(votes.targets().astype(np.float32))

    def peer():
        torch.manual_seed(0)
        model = nn.Sequential(
            nn.Linear(width, HIDDEN), nn.GELU(), nn.Dropout(DROPOUT), nn.Linear(HIDDEN, classes)
        )
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        for _ in range(EPOCHS):
            model.train()
            for some in torch.randperm(train).split(batch):
                loss = nn.functional.cross_entropy(model(x[some]), y[some])
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
            model.eval()
            with torch.no_grad():
                nn.functional.cross_entropy(model(x[train:]), y[train:])

    mine, theirs = best(repeats, ours, peer)
    what = f"fit: {EPOCHS} epochs of an MLP head, {items:,} × {width}, {HIDDEN} units, batches of {batch}"
    return [row(what, mine, theirs, f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads", 5)]
