"""The crate's random signs, with numpy's own Philox: as its documentation (`probes`) has it."""

import numpy as np


def philox(seed, stream, counter):
    """numpy adds 1 to the counter before it draws, so it is given the one below."""
    below = (sum(c << 64 * i for i, c in enumerate(counter)) - 1) % 2**256
    u64 = lambda words: np.array(words, dtype=np.uint64)  # noqa: E731
    return np.random.Philox(key=u64([seed, int.from_bytes(stream, "big")]),
                            counter=u64([below >> 64 * i & (2**64 - 1) for i in range(4)]))


def signs(seed, stream, probe, length):
    words = philox(seed, stream, [0, probe, 0, 0]).random_raw(4 * -(-length // 256))
    bits = np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little")
    return 2.0 * bits[:length] - 1
