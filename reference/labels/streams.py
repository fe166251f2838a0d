"""The random numbers of dissensus-labels, drawn by numpy: the lines of its documentation."""

import hashlib

import numpy as np


def example_key(id):
    return int.from_bytes(hashlib.sha256(id.encode()).digest()[:8], "little")


def philox(seed, stream, counter):  # numpy adds 1 to the counter before it draws
    below = (sum(c << 64 * i for i, c in enumerate(counter)) - 1) % 2**256
    u64 = lambda words: np.array(words, dtype=np.uint64)
    return np.random.Philox(key=u64([seed, int.from_bytes(stream, "big")]),
                            counter=u64([below >> 64 * i & (2**64 - 1) for i in range(4)]))


def below(raw, n):  # Lemire's method; raw is the Philox of a stream
    while True:
        product = int(raw.random_raw()) * n
        if product % 2**64 >= (2**64 - n) % n:
            return product >> 64


def shuffle(raw, items):  # Fisher-Yates from the end
    for i in range(len(items) - 1, 0, -1):
        j = below(raw, i + 1)
        items[i], items[j] = items[j], items[i]
    return items


def unit(word):
    return (int(word) >> 11) / 2**53


def donors(ids, seed):
    keys = np.array([example_key(id) for id in ids], dtype=np.uint64)
    words = np.array([philox(seed, b"swap", [0, int(k), 0, 0]).random_raw() for k in keys])
    donor = np.empty(len(ids), int)
    donor[np.argsort(keys)] = np.argsort(words)
    return donor
