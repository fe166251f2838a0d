"""Targets of soft_noise, from counts and from probabilities. Writes soft_noise.json."""

import math

import golden
import numpy as np
from streams import example_key, philox, unit

rng = np.random.default_rng(8)
cases = []


def normal(raw):  # Box-Muller, one of the pair
    u, v = unit(raw.random_raw()), unit(raw.random_raw())
    return math.sqrt(-2 * math.log(1 - u)) * math.cos(2 * math.pi * v)


def soft_noise(p, id, seed, epoch, scale):  # the sum over classes as it stands in the formula
    xi = np.zeros(len(p))
    for k in range(len(p)):
        z = normal(philox(seed, b"noise", [0, example_key(id), epoch, k]))
        xi += scale * math.sqrt(p[k]) * z * (np.eye(len(p))[k] - p)
    return p + xi


def case(scale, seed, ids, rows):
    epochs = [0, 1, 2, 50, 2**40 + 3]
    p = rows / rows.sum(1, keepdims=True)
    targets = [[soft_noise(p[i], ids[i], seed, t, scale) for i in range(len(ids))] for t in epochs]
    cases.append({"delivery": f"soft_noise:scale={scale}", "seed": seed, "ids": ids, "rows": rows,
                  "epochs": epochs, "targets": np.array(targets)})


ids = [f"item-{i}" for i in range(6)] + [" ", "17", "straße"]
for scale, seed, classes, most in [(1, 0, 3, 4), (0.5, 7, 10, 20), (10, 2**64 - 5, 2, 300)]:
    rows = rng.integers(0, most, (len(ids), classes)) * (rng.random((len(ids), classes)) < 0.7)
    rows[:, 0] += rows.sum(1) == 0
    case(scale, seed, ids, rows)
    case(scale, seed, ids, np.round(rng.dirichlet(np.full(classes, 0.4), len(ids)), 4))

golden.write("soft_noise.json", cases)
