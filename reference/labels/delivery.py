"""Labels of every hard delivery, from counts and from probabilities. Writes delivery.json."""

import golden
import numpy as np
from streams import below, donors, example_key, philox, shuffle, unit

rng = np.random.default_rng(5)
cases = []


def votes(counts):
    return np.repeat(np.arange(len(counts)), counts)


def sls_word(id, seed, draw):
    return int(philox(seed, b"sls", [0, example_key(id), draw // 4, 0]).random_raw(4)[draw % 4])


def sls(counts, id, seed, epoch, every=1):
    return votes(counts)[sls_word(id, seed, epoch // every) * len(votes(counts)) >> 64]


def sls_of_probabilities(p, id, seed, epoch):
    cdf = np.cumsum(p)
    return np.searchsorted(cdf, unit(sls_word(id, seed, epoch)) * cdf[-1], side="right")


def multipass(counts, id, seed, epoch):
    raw = philox(seed, b"pass", [0, example_key(id), 0, 0])
    return shuffle(raw, votes(counts))[epoch % counts.sum()]


def majority(counts, id, seed):  # ties=random
    best = np.flatnonzero(counts == counts.max())
    return best[below(philox(seed, b"ties", [0, example_key(id), 0, 0]), len(best))]


def case(delivery, seed, ids, rows, label):
    epochs = [0, 1, 2, 3, 4, 5, 11, 50, 1001, 2**40 + 3]
    cases.append({"delivery": delivery, "seed": seed, "ids": ids, "rows": rows, "epochs": epochs,
                  "labels": [[int(label(i, t)) for i in range(len(ids))] for t in epochs]})


for seed, classes, most in [(0, 3, 4), (7, 10, 20), (2**64 - 5, 2, 300)]:
    ids = [f"item-{i}" for i in range(20)] + [" ", "17", "straße"]
    rows = rng.integers(0, most, (len(ids), classes)) * (rng.random((len(ids), classes)) < 0.7)
    rows[:, 0] += rows.sum(1) == 0
    shuffled = rows[donors(ids, seed)]
    other = (seed + 1000) % 2**64
    case("sls", seed, ids, rows, lambda i, t: sls(rows[i], ids[i], seed, t))
    case("sls:every=5", seed, ids, rows, lambda i, t: sls(rows[i], ids[i], seed, t, 5))
    case("shuffled_sls", seed, ids, rows, lambda i, t: sls(shuffled[i], ids[i], seed, t))
    case("multipass", seed, ids, rows, lambda i, t: multipass(rows[i], ids[i], seed, t))
    case("deterministic", seed, ids, rows, lambda i, t: multipass(rows[i], ids[i], other, t))
    tied = np.minimum(rows, 1)
    case("majority:ties=random", seed, ids, tied, lambda i, t: majority(tied[i], ids[i], seed))
    case("mixup", seed, ids, rows, lambda i, t: rows[i].argmax())
    p = np.round(rng.dirichlet(np.full(classes, 0.4), len(ids)), 4)  # sums to about 1
    case("sls", seed, ids, p, lambda i, t: sls_of_probabilities(p[i], ids[i], seed, t))

# Samples have no epochs: the labels of each item, one per vote.
cases.append({"delivery": "every_vote", "seed": 0, "ids": ids, "rows": rows, "epochs": [],
              "labels": [votes(row).tolist() for row in rows]})

golden.write("delivery.json", cases)
