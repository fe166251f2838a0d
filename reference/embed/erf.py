"""The ratio of polynomials for erf in `crates/embed/src/transformer/math.rs`.

    python reference/embed/erf.py

erf(x) = x P(x^2) / Q(x^2) on [0, 3.9], both of degree 5, by least squares whose weights follow the
error until it is level; prints both, lowest power first, and the largest error of the fit.
"""

import math

import numpy as np

DEGREE, END = 5, 3.9
COUNT = 4000

x = END * (np.cos(np.pi * (np.arange(COUNT) + 0.5) / COUNT) + 1) / 2
x = x[x > 1e-6]
erf = np.array([math.erf(value) for value in x])
u = (x / END) ** 2
powers = u[:, None] ** np.arange(DEGREE + 1)
weights, q, best = np.ones_like(x), np.ones_like(x), (np.inf, None)
for _ in range(80):
    columns = np.concatenate([powers, -(erf / x)[:, None] * powers[:, 1:]], 1)
    rows = (weights * x / q)[:, None]
    found = np.linalg.lstsq(columns * rows, erf / x * rows[:, 0], rcond=1e-16)[0]
    q = 1 + powers[:, 1:] @ found[DEGREE + 1:]
    error = np.abs(x * (powers @ found[:DEGREE + 1]) / q - erf)
    if error.max() < best[0]:
        best = (error.max(), found)
    weights *= (error / error.max() + 0.02) ** 0.3
    weights /= weights.max()

scale = END ** (-2.0 * np.arange(DEGREE + 1))
print("P", (best[1][:DEGREE + 1] * scale).astype(np.float32).tolist())
print("Q", (np.concatenate([[1], best[1][DEGREE + 1:]]) * scale).astype(np.float32).tolist())
print("error", best[0])
