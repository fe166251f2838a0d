"""Targets of every delivery that gives distributions, from counts and from probabilities. Writes soft_noise.json."""

import math

import golden
import numpy as np
from streams import donors, example_key, philox, unit

rng = np.random.default_rng(8)
cases = []


def normal(raw):  # Box-Muller, one of the pair
    u, v = unit(raw.random_raw()), unit(raw.random_raw())
    return math.sqrt(-2 * math.log(1 - u)) * math.cos(2 * math.pi * v)


def z(id, seed, epoch, k):
    return normal(philox(seed, b"noise", [0, example_key(id), epoch, k]))


def soft_noise(p, id, seed, epoch, scale, q=None):  # the sum over classes as it stands in the formula
    q = p if q is None else q
    xi = np.zeros(len(p))
    for k in range(len(p)):
        xi += scale * math.sqrt(q[k]) * z(id, seed, epoch, k) * (np.eye(len(p))[k] - q)
    return p + xi


def isotropic_noise(p, id, seed, epoch, scale):
    own = np.array([z(id, seed, epoch, k) for k in range(len(p))])
    return p + scale * math.sqrt((1 - p @ p) / (len(p) - 1)) * (own - own.mean())


def label_smoothing(p, epsilon):  # ties: the lowest class
    return (1 - epsilon) * np.eye(len(p))[p.argmax()] + epsilon / len(p)


def case(delivery, seed, ids, rows, target, epochs=(0, 1, 2, 50, 2**40 + 3)):
    p = rows / rows.sum(1, keepdims=True)
    targets = [[target(p, i, t) for i in range(len(ids))] for t in epochs]
    cases.append({"delivery": delivery, "seed": seed, "ids": ids, "rows": rows, "epochs": list(epochs),
                  "targets": np.array(targets)})


ids = [f"item-{i}" for i in range(6)] + [" ", "17", "straße"]
for scale, seed, classes, most in [(1, 0, 3, 4), (0.5, 7, 10, 20), (10, 2**64 - 5, 2, 300)]:
    rows = rng.integers(0, most, (len(ids), classes)) * (rng.random((len(ids), classes)) < 0.7)
    rows[:, 0] += rows.sum(1) == 0
    for votes in [rows, np.round(rng.dirichlet(np.full(classes, 0.4), len(ids)), 4)]:
        case(f"soft_noise:scale={scale}", seed, ids, votes, lambda p, i, t: soft_noise(p[i], ids[i], seed, t, scale))

seed, rows = 9, rng.integers(0, 5, (len(ids), 4)) + np.eye(len(ids), 4, dtype=int)
donor = donors(ids, seed)
case("soft", seed, ids, rows, lambda p, i, t: p[i], [0, 7])
case("label_smoothing:epsilon=0.2", seed, ids, rows, lambda p, i, t: label_smoothing(p[i], 0.2), [0, 7])
case("isotropic_noise:scale=2", seed, ids, rows, lambda p, i, t: isotropic_noise(p[i], ids[i], seed, t, 2), [0, 3])
case("shuffled_noise", seed, ids, rows, lambda p, i, t: soft_noise(p[i], ids[i], seed, t, 1, p[donor[i]]), [0, 3])

golden.write("soft_noise.json", cases)
