"""Sparse draws with and without replacement. Writes sparse.json."""

import golden
import numpy as np
from streams import below, example_key, philox, unit

rng = np.random.default_rng(6)
cases = []


def with_replacement(counts, id, seed, k):
    raw = philox(seed, b"sparse", [0, example_key(id), k, 0])
    votes = np.repeat(np.arange(len(counts)), counts)
    return np.bincount([votes[below(raw, len(votes))] for _ in range(k)], minlength=len(counts))


def from_probabilities(p, id, seed, k):
    raw, cdf = philox(seed, b"sparse", [0, example_key(id), k, 0]), np.cumsum(p)
    drawn = [np.searchsorted(cdf, unit(raw.random_raw()) * cdf[-1], "right") for _ in range(k)]
    return np.bincount(drawn, minlength=len(p))


def without_replacement(counts, id, seed, k):
    raw, left = philox(seed, b"subset", [0, example_key(id), k, 0]), counts.copy()
    for _ in range(k):
        left[np.searchsorted(np.cumsum(left), below(raw, int(left.sum())), "right")] -= 1
    return counts - left


def case(name, draw, seed, k, ids, rows):
    drawn = [draw(row, id, seed, k) for row, id in zip(rows, ids)]
    cases.append({"draw": name, "seed": seed, "k": k, "ids": ids, "rows": rows, "drawn": drawn})


for seed, classes, k in [(0, 3, 5), (3, 10, 10), (2**63, 4, 25), (9, 5, 50)]:
    ids = [f"x{i}" for i in range(12)]
    rows = rng.multinomial(k + 7, rng.dirichlet(np.ones(classes)), len(ids))
    case("with", with_replacement, seed, k, ids, rows)
    case("without", without_replacement, seed, k, ids, rows)
    p = np.round(rng.dirichlet(np.full(classes, 0.5), len(ids)), 4)
    case("probabilities", from_probabilities, seed, k, ids, p)

golden.write("sparse.json", cases)
