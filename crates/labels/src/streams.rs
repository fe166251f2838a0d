//! Which random numbers belong to what.
//!
//! Everything is drawn from Philox4x64-10 ([`dissensus_core::philox`]) under the key
//! (seed, stream), where a stream is a short word read as a big-endian number ([`SLS`] is
//! `b"sls"`). An example is known to the generator by its key ([`example_key`]): the first eight
//! bytes, little-endian, of the SHA-256 of its id. It depends on nothing but the id, so that a
//! label does not change with the order of the items or with which others there are.
//!
//! | stream | counter | what is drawn |
//! |---|---|---|
//! | [`SLS`] | (n, key, d / 4, 0), word d mod 4 | the label of draw d = epoch / `every` |
//! | [`PASS`] | (n, key, 0, 0) | the shuffle of an example's votes |
//! | [`SWAP`] | (0, key, 0, 0), word 0 | whose distribution an example gets in `shuffled_sls` and `shuffled_noise` |
//! | [`TIES`] | (n, key, 0, 0) | which of the most-voted classes is the majority |
//! | [`NOISE`] | (0, key, epoch, class), words 0 and 1 | the normal number of a class in `soft_noise` and its controls |
//! | [`MIX`] | (n, epoch, batch, 0) | λ of a mixed batch |
//! | [`PAIR`] | (n, epoch, batch, 0) | which examples of a batch are mixed |
//! | [`SPARSE`] | (n, key, k, 0) | k votes with replacement |
//! | [`SUBSET`] | (n, key, k, 0) | k votes without replacement |
//! | [`BINS`] | (0, key, 0, 0), word 0 | which items of a crowded bin of entropies are taken |
//!
//! Where more than one word is needed, n counts the blocks from 0, and a block's four words are
//! used in turn. The exception is `SLS`, where four draws share a block: a draw takes the same word
//! of the next block if the first is refused, which happens once in 2⁶⁴ / m draws for m votes.
//!
//! In numpy:
//!
//! ```python
//! import hashlib
//! import numpy as np
//!
//! def example_key(id):
//!     return int.from_bytes(hashlib.sha256(id.encode()).digest()[:8], "little")
//!
//! def philox(seed, stream, counter):  # numpy adds 1 to the counter before it draws
//!     below = (sum(c << 64 * i for i, c in enumerate(counter)) - 1) % 2**256
//!     u64 = lambda words: np.array(words, dtype=np.uint64)
//!     return np.random.Philox(key=u64([seed, int.from_bytes(stream, "big")]),
//!                             counter=u64([below >> 64 * i & (2**64 - 1) for i in range(4)]))
//!
//! def sls(counts, id, seed, epoch, every=1):
//!     draw, votes = epoch // every, np.repeat(np.arange(len(counts)), counts)
//!     words = philox(seed, b"sls", [0, example_key(id), draw // 4, 0]).random_raw(4)
//!     return votes[int(words[draw % 4]) * len(votes) >> 64]
//!
//! def below(raw, n):  # Lemire's method; raw is the Philox of a stream
//!     while True:
//!         product = int(raw.random_raw()) * n
//!         if product % 2**64 >= (2**64 - n) % n:
//!             return product >> 64
//!
//! def multipass(counts, id, seed, epoch):  # deterministic: seed + 1000
//!     votes = np.repeat(np.arange(len(counts)), counts)
//!     raw = philox(seed, b"pass", [0, example_key(id), 0, 0])
//!     for i in range(len(votes) - 1, 0, -1):
//!         j = below(raw, i + 1)
//!         votes[i], votes[j] = votes[j], votes[i]
//!     return votes[epoch % len(votes)]
//!
//! def soft_noise(counts, id, seed, epoch, scale=1):
//!     p, key = counts / np.sum(counts), example_key(id)
//!     words = [philox(seed, b"noise", [0, key, epoch, k]).random_raw(2) for k in range(len(p))]
//!     u, v = (np.array(words) >> np.uint64(11)).T / 2**53
//!     a = scale * np.sqrt(p) * np.sqrt(-2 * np.log(1 - u)) * np.cos(2 * np.pi * v)
//!     return p + (a - p * a.sum())
//! ```

use dissensus_core::philox::stream;
use sha2::{Digest, Sha256};

/// Labels drawn in `sls` and `shuffled_sls`.
pub const SLS: u64 = stream(b"sls");
/// Shuffles of `multipass` and `deterministic`.
pub const PASS: u64 = stream(b"pass");
/// The permutation of `shuffled_sls`.
pub const SWAP: u64 = stream(b"swap");
/// Ties for the majority.
pub const TIES: u64 = stream(b"ties");
/// Noise of `soft_noise`.
pub const NOISE: u64 = stream(b"noise");
/// λ of `mixup`.
pub const MIX: u64 = stream(b"mix");
/// Pairings of `mixup`.
pub const PAIR: u64 = stream(b"pair");
/// Sparse draws with replacement.
pub const SPARSE: u64 = stream(b"sparse");
/// Sparse draws without replacement.
pub const SUBSET: u64 = stream(b"subset");
/// Items of a bin of entropies.
pub const BINS: u64 = stream(b"bins");

/// What the generator knows an example by: the first eight bytes of the SHA-256 of its id.
pub fn example_key(id: &str) -> u64 {
    let digest = Sha256::digest(id.as_bytes());
    digest.iter().take(8).rev().fold(0, |key, &byte| key << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Python 3: `int.from_bytes(hashlib.sha256(id.encode()).digest()[:8], "little")` for the ids
    /// `""`, `"17"` and `"straße"`; `int.from_bytes(b"ties", "big")`.
    #[test]
    fn keys_and_streams_are_pythons() {
        assert_eq!(example_key(""), 0x141c_fc98_42c4_b0e3);
        assert_eq!(example_key("17"), 0x17cd_0415_0f54_2345);
        assert_eq!(example_key("straße"), 0x2438_3d61_7047_7f78);
        assert_eq!(TIES, 0x7469_6573);
    }

    #[test]
    fn streams_differ() {
        let all = [SLS, PASS, SWAP, TIES, NOISE, MIX, PAIR, SPARSE, SUBSET, BINS];
        assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), all.len());
    }
}
