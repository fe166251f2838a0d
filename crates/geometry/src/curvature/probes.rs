//! Random vectors of signs, each a pure function of (seed, stream, number of the probe).
//!
//! Coordinate i is +1 where bit i mod 64 of word (i / 64) mod 4 of Philox's block
//! (i / 256, probe, 0, 0) under the key (seed, stream) is set, and −1 elsewhere. With numpy:
//!
//! ```python
//! def signs(seed, stream, probe, length):   # philox: as in the guide to delivery
//!     blocks = -(-length // 256)
//!     words = philox(seed, stream, [0, probe, 0, 0]).random_raw(4 * blocks)
//!     bits = np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little")
//!     return 2.0 * bits[:length] - 1
//! ```

use dissensus_core::philox::{block, stream};
use dissensus_engine::Real;
use rayon::prelude::*;

use crate::vectors::STRETCH;

/// Probes of a trace and of a density.
pub const PROBE: u64 = stream(b"probe");
/// The columns that a range is sketched with.
pub const SKETCH: u64 = stream(b"sketch");
/// Where an iteration starts.
pub const START: u64 = stream(b"start");

/// Signs that a block gives.
const BITS: usize = 256;

/// The probe of this number.
pub fn rademacher<F: Real>(seed: u64, stream: u64, probe: u64, length: usize) -> Vec<F> {
    let mut signs = vec![F::ZERO; length];
    let blocks = STRETCH / BITS;
    signs.par_chunks_mut(STRETCH).enumerate().for_each(|(stretch, signs)| {
        for (number, signs) in signs.chunks_mut(BITS).enumerate() {
            let counter = [(stretch * blocks + number) as u64, probe, 0, 0];
            let words = block([seed, stream], counter);
            for (at, sign) in signs.iter_mut().enumerate() {
                let set = words[at / 64] >> (at % 64) & 1 == 1;
                *sign = if set { F::ONE } else { -F::ONE };
            }
        }
    });
    signs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// numpy 2.4.6, with the lines of the module's documentation:
    ///
    /// ```python
    /// s = signs(7, b"probe", 3, 70_000)
    /// print([(np.flatnonzero(s[f:f + 64] > 0) + 1).sum() for f in (0, 320, 65_600)], s.sum())
    /// ```
    #[test]
    fn signs_are_numpys() {
        let signs: Vec<f64> = rademacher(7, PROBE, 3, 70_000);
        let places = |from: usize| -> usize {
            (0..64).filter(|at| signs[from + at] > 0.0).map(|at| at + 1).sum()
        };
        assert_eq!([0, 320, 65_600].map(places), GOLDEN);
        assert_eq!(signs.iter().sum::<f64>(), GOLDEN_SUM);
        assert!(signs.iter().all(|s| s.abs() == 1.0));
    }

    #[test]
    fn probes_differ() {
        let probe = |seed, stream, number| rademacher::<f32>(seed, stream, number, 100);
        assert_eq!(probe(1, PROBE, 0), probe(1, PROBE, 0));
        for other in [probe(2, PROBE, 0), probe(1, SKETCH, 0), probe(1, PROBE, 1)] {
            assert_ne!(probe(1, PROBE, 0), other);
        }
    }

    const GOLDEN: [usize; 3] = [1377, 974, 895];
    const GOLDEN_SUM: f64 = 266.0;
}
