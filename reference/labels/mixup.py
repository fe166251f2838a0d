"""λ and pairings of mixup. Writes mixup.json.

For α ≤ 1, λ is the draw of numpy's own Generator.beta; for α > 1, Cheng's algorithm BB.
"""

import math

import golden
import numpy as np
from streams import philox, shuffle, unit

cases = []


def cheng(raw, alpha):
    while True:
        u, v = unit(raw.random_raw()), unit(raw.random_raw())
        logit = math.log(u / (1 - u)) / math.sqrt(alpha)
        w = alpha * math.exp(logit)
        gain = (alpha + math.sqrt(alpha)) * logit - math.log(4)
        if gain + 2 * alpha * math.log(2 * alpha / (alpha + w)) >= math.log(u * u * v):
            return w / (alpha + w)


for alpha in [0.001, 0.2, 0.4, 1.0, 1.5, 4.0, 100.0]:
    for seed, epoch, batch in [(0, 0, 0), (0, 1, 0), (0, 0, 1), (5, 199, 62), (2**64 - 1, 7, 7)]:
        raw = philox(seed, b"mix", [0, epoch, batch, 0])
        lam = np.random.Generator(raw).beta(alpha, alpha) if alpha <= 1 else cheng(raw, alpha)
        partners = shuffle(philox(seed, b"pair", [0, epoch, batch, 0]), list(range(16)))
        cases.append({"alpha": alpha, "seed": seed, "epoch": epoch, "batch": batch, "lambda": lam,
                      "partners": partners})

golden.write("mixup.json", cases)
