"""The inputs of the golden values, made by the same formulas as in crates/measure/src/testing.rs.

Every number comes from Philox4x64-10 (numpy 2.4.6), words (n, 0, 0, 0) for n = 0, 1, ... under the
key (stream, 0), each word giving (word >> 11) / 2**53.
"""

import numpy as np

U64 = lambda words: np.array(words, dtype=np.uint64)  # a list above 2**63 would become floats
N, K = 600, 5


def uniform(stream, n):
    # numpy adds 1 to the counter before it draws, so it is given the one below zero.
    bits = np.random.Philox(key=U64([stream, 0]), counter=U64([2**64 - 1] * 4))
    return (bits.random_raw(n) >> 11) * (1.0 / (1 << 53))


def votes():
    """N x K counts: sparse, of different totals, never none."""
    u = uniform(1, N * (K + 1)).reshape(N, K + 1)
    v = u[:, :K]
    counts = np.floor(v * v * v * v * 8.0)
    counts[np.arange(N), (u[:, K] * K).astype(int)] += 3.0
    return counts


def logits():
    """N x K logits that lean towards the votes."""
    counts = votes()
    p = counts / counts.sum(1, keepdims=True)
    return (uniform(2, N * K).reshape(N, K) * 2.0 - 1.0) * 2.0 + p * 3.0


def given():
    """Labels that are the majority label four times of five."""
    u = uniform(3, 2 * N).reshape(N, 2)
    return np.where(u[:, 0] < 0.8, votes().argmax(1), (u[:, 1] * K).astype(int))


def calibrated(n, shift):
    """Confidences, 0/1 outcomes with probability confidence - shift, and shares near that."""
    u = uniform(4, 3 * n).reshape(n, 3)
    f = u[:, 0] * 0.8 + 0.2
    y = (u[:, 1] < f - shift) * 1.0
    return f, y, np.clip(f - shift + (u[:, 2] - 0.5) * 0.2, 0.0, 1.0)
