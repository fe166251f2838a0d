"""The labels of an epoch for a million items, beside a sampler in numpy: the mean of four epochs in a row."""

import time

import numpy as np
from run import best, row

from dissensus import Delivery, Votes

ITEMS, CLASSES, VOTES = 1_000_000, 10, 10
EPOCHS = 4


def several(call):
    for _ in range(EPOCHS):
        call()


def rows(repeats):
    random = np.random.default_rng(0)
    counts = random.multinomial(VOTES, np.full(CLASSES, 1 / CLASSES), ITEMS)
    votes = Votes.from_counts(counts)
    shares = counts / counts.sum(1, keepdims=True)
    cumulative = shares.cumsum(1)

    def sampler():
        return (random.random((ITEMS, 1)) < shares.cumsum(1)).argmax(1)

    def prepared_sampler():
        return (random.random((ITEMS, 1)) < cumulative).argmax(1)

    found = []
    for method in ["multipass", "sls"]:
        start = time.perf_counter()
        delivery = Delivery(votes, method, seed=0)
        prepared = time.perf_counter() - start
        epochs = iter(range(10_000))
        calls = [lambda: delivery.labels(next(epochs)), sampler, prepared_sampler]  # noqa: B023
        in_a_row = [lambda call=call: several(call) for call in calls]
        ours, peer, other = (seconds / EPOCHS for seconds in best(2 * repeats, *in_a_row))
        what = f"{method}: labels of {ITEMS:,} items, {CLASSES} classes"
        found.append(row(what, ours, peer, f"numpy, (u < p.cumsum(1)).argmax(1); ours prepared in {prepared:.2f} s", 20))
        found.append(row(what, ours, other, "the same with the sums made beforehand"))
    return found
