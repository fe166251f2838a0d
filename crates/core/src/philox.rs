//! Philox4x64-10: random numbers as a pure function of a key and a counter.
//!
//! Salmon, Moraes, Dror and Shaw, *Parallel random numbers: as easy as 1, 2, 3* (SC 2011). The
//! same variant that numpy ships as `numpy.random.Philox`, so that anything drawn here can be
//! drawn again in a few lines of Python:
//!
//! ```python
//! import numpy as np
//! key, counter = [7, 1], [3, 0, 0, 0]
//! # numpy adds 1 to the counter before it draws, so it is given the counter below.
//! below = (sum(c << 64 * i for i, c in enumerate(counter)) - 1) % 2**256
//! words = [below >> 64 * i & (2**64 - 1) for i in range(4)]
//! u64 = lambda ws: np.array(ws, dtype=np.uint64)  # a list above 2**63 would become floats
//! block = np.random.Philox(key=u64(key), counter=u64(words)).random_raw(4)
//! ```
//!
//! There is no state to share between threads and no order to keep: the block for (key, counter)
//! is the same wherever and whenever it is computed.

const MULTIPLIERS: [u64; 2] = [0xD2E7_470E_E14C_6C93, 0xCA5A_8263_9512_1157];
const WEYL: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xBB67_AE85_84CA_A73B];
const ROUNDS: usize = 10;

/// Four random words for this key and counter.
// Always inlined: in a loop over counters the compiler then takes the key schedule, and the
// multiplications that no counter changes, out of the loop, which halves its time.
#[inline(always)]
pub fn block(key: [u64; 2], counter: [u64; 4]) -> [u64; 4] {
    let [mut k0, mut k1] = key;
    let [mut c0, mut c1, mut c2, mut c3] = counter;
    for _ in 0..ROUNDS {
        let a = u128::from(MULTIPLIERS[0]) * u128::from(c0);
        let b = u128::from(MULTIPLIERS[1]) * u128::from(c2);
        (c0, c1, c2, c3) =
            ((b >> 64) as u64 ^ c1 ^ k0, b as u64, (a >> 64) as u64 ^ c3 ^ k1, a as u64);
        (k0, k1) = (k0.wrapping_add(WEYL[0]), k1.wrapping_add(WEYL[1]));
    }
    [c0, c1, c2, c3]
}

/// The name of a stream as the second word of a key: a short word read as a big-endian number.
pub const fn stream(word: &[u8]) -> u64 {
    let (mut number, mut at) = (0, 0);
    while at < word.len() {
        number = number << 8 | word[at] as u64;
        at += 1;
    }
    number
}

/// A number in [0, 1) from the upper 53 bits of a word, as numpy's generators make it.
#[inline]
pub fn unit(word: u64) -> f64 {
    (word >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// A sequence of draws that belongs to one key and one place: successive words of the blocks
/// (n, place…) for n = 0, 1, ….
#[derive(Clone, Debug)]
pub struct Stream {
    key: [u64; 2],
    counter: [u64; 4],
    words: [u64; 4],
    used: usize,
}

impl Stream {
    /// The stream of `place` under `key`. Different places never share a block.
    pub fn new(key: [u64; 2], place: [u64; 3]) -> Self {
        let counter = [0, place[0], place[1], place[2]];
        Self { key, counter, words: [0; 4], used: 4 }
    }

    /// The next 64 random bits.
    pub fn word(&mut self) -> u64 {
        if self.used == 4 {
            self.words = block(self.key, self.counter);
            self.counter[0] = self.counter[0].wrapping_add(1);
            self.used = 0;
        }
        self.used += 1;
        self.words[self.used - 1]
    }

    /// A number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        unit(self.word())
    }

    /// A whole number below `n`, every one equally likely (`n` > 0; 0 for `n` = 0).
    pub fn below(&mut self, n: u64) -> u64 {
        // Lemire's method: the product's high word is uniform once the few low words that would
        // favour some results are drawn again.
        let mut product = u128::from(self.word()) * u128::from(n);
        if (product as u64) < n {
            let unfair = n.wrapping_neg() % n;
            while (product as u64) < unfair {
                product = u128::from(self.word()) * u128::from(n);
            }
        }
        (product >> 64) as u64
    }

    /// A standard normal number (Box–Muller, one of the pair).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Puts the elements into a random order (Fisher–Yates, from the end).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// numpy 2.4.6:
    ///
    /// ```python
    /// def block(key, counter):
    ///     below = (sum(c << 64 * i for i, c in enumerate(counter)) - 1) % 2**256
    ///     words = [below >> 64 * i & (2**64 - 1) for i in range(4)]
    ///     u64 = lambda ws: np.array(ws, dtype=np.uint64)
    ///     return np.random.Philox(key=u64(key), counter=u64(words)).random_raw(4)
    /// print(block([0, 0], [0, 0, 0, 0])); print(block([7, 1], [3, 0, 0, 0]))
    /// print(block([2**64 - 1, 12345], [2**64 - 1, 42, 0, 9]))
    /// ```
    #[test]
    fn blocks_are_numpys() {
        assert_eq!(block([0, 0], [0, 0, 0, 0]), GOLDEN[0]);
        assert_eq!(block([7, 1], [3, 0, 0, 0]), GOLDEN[1]);
        assert_eq!(block([u64::MAX, 12345], [u64::MAX, 42, 0, 9]), GOLDEN[2]);
    }

    #[test]
    fn streams_of_different_places_differ_and_repeat() {
        let words = |place| {
            let mut stream = Stream::new([1, 2], place);
            (0..9).map(|_| stream.word()).collect::<Vec<_>>()
        };
        assert_eq!(words([1, 0, 0]), words([1, 0, 0]));
        assert_ne!(words([1, 0, 0]), words([0, 1, 0]));
        assert_eq!(words([5, 6, 7])[..4], block([1, 2], [0, 5, 6, 7]));
        assert_eq!(words([5, 6, 7])[4..8], block([1, 2], [1, 5, 6, 7]));
    }

    /// Each of 6 counts over n = 60,000 draws has mean n/6 and sd √(n·5/36) ≈ 91; 5 sd is a
    /// one-in-a-million event a count, and the draw is fixed by its key.
    #[test]
    fn below_is_uniform() {
        let mut stream = Stream::new([3, 0], [0; 3]);
        let mut counts = [0i64; 6];
        (0..60_000).for_each(|_| counts[stream.below(6) as usize] += 1);
        assert!(counts.iter().all(|c| (c - 10_000).abs() < 457), "{counts:?}");
        assert_eq!(stream.below(1), 0);
    }

    /// Mean of n = 40,000 normals: sd 1/√n = 0.005. Their mean square: sd √(2/n) ≈ 0.007.
    #[test]
    fn normals_have_mean_0_and_variance_1() {
        let mut stream = Stream::new([4, 0], [0; 3]);
        let draws: Vec<f64> = (0..40_000).map(|_| stream.normal()).collect();
        let mean = draws.iter().sum::<f64>() / 40_000.0;
        let square = draws.iter().map(|x| x * x).sum::<f64>() / 40_000.0;
        assert!(mean.abs() < 0.025, "{mean}");
        assert!((square - 1.0).abs() < 0.035, "{square}");
    }

    const GOLDEN: [[u64; 4]; 3] = [
        [0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B],
        [0xDB61AF86DA1E1891, 0x5B230021951134EB, 0xF2B10923D95145C6, 0x49C05D09B7F63783],
        [0x8E182EAA7ABF6DB8, 0xF3D9CD2F73219136, 0x909B3CF9AEED80D3, 0x82557B8C27217269],
    ];
}
