//! Random words for a run of examples at once.
//!
//! The same bits as [`philox::block`](dissensus_core::philox::block) at the counter
//! (0, key, quarter, 0), in a loop over nothing but keys. The compiler then takes the key schedule
//! and the multiplications that no example changes out of the loop: of the 20 of a block, 16 are
//! left, and 15 or 14 where one word is wanted. That halves the time of an epoch of SLS.

use dissensus_core::philox::block;

/// Examples that are worked on at once: their words fit into the first-level cache.
pub(crate) const RUN: usize = 1024;

/// Word `W` of the block of every example.
#[inline(never)]
pub(crate) fn one<const W: usize>(
    key: [u64; 2],
    quarter: u64,
    examples: &[u64],
    out: &mut [u64; RUN],
) {
    for (word, &example) in out.iter_mut().zip(examples) {
        *word = block(key, [0, example, quarter, 0])[W];
    }
}

/// The whole block of every example.
#[inline(never)]
pub(crate) fn four(key: [u64; 2], quarter: u64, examples: &[u64], out: &mut [[u64; 4]; RUN]) {
    for (words, &example) in out.iter_mut().zip(examples) {
        *words = block(key, [0, example, quarter, 0]);
    }
}

/// A whole number below `n`, every one equally likely, by Lemire's method: the high word of a
/// product, once the few low words that would favour some results are replaced by `again`.
#[inline(always)]
pub(crate) fn below(word: u64, n: u64, mut again: impl FnMut() -> u64) -> u64 {
    let mut product = u128::from(word) * u128::from(n);
    if (product as u64) < n {
        let unfair = n.wrapping_neg().checked_rem(n).unwrap_or(0);
        while (product as u64) < unfair {
            product = u128::from(again()) * u128::from(n);
        }
    }
    (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_are_those_of_core(
            seed: u64,
            stream: u64,
            quarter: u64,
            examples in prop::collection::vec(any::<u64>(), 1..9),
        ) {
            let key = [seed, stream];
            let mut blocks = [[0; 4]; RUN];
            four(key, quarter, &examples, &mut blocks);
            let mut words = [[0; RUN]; 4];
            one::<0>(key, quarter, &examples, &mut words[0]);
            one::<1>(key, quarter, &examples, &mut words[1]);
            one::<2>(key, quarter, &examples, &mut words[2]);
            one::<3>(key, quarter, &examples, &mut words[3]);
            for (at, &example) in examples.iter().enumerate() {
                prop_assert_eq!(blocks[at], block(key, [0, example, quarter, 0]));
                prop_assert_eq!(blocks[at], [0, 1, 2, 3].map(|w| words[w][at]));
            }
        }
    }

    /// With n = 3·2⁶², a quarter of all low words is refused.
    #[test]
    fn refused_words_are_drawn_again() {
        let n = 3 << 62;
        assert_eq!(
            below(1 << 62, n, || u64::MAX),
            ((u128::from(u64::MAX) * u128::from(n)) >> 64) as u64
        );
        assert_eq!(below(3, 10, || 0), 0);
        assert_eq!(below(u64::MAX, 10, || 0), 9);
        assert_eq!(below(u64::MAX, 0, || 0), 0);
    }
}
