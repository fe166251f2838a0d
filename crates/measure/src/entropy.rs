//! Entropy in nats, `H(p) = −Σ p_k ln p_k` with `0 ln 0 = 0`, the same for any order of the classes.
//!
//! Items whose votes are the same up to the names of the classes (3, 2, 1 and 1, 3, 2) have one
//! entropy, and must tie when items are ranked or sliced by it. Sums of floats depend on their
//! order in the last bit, so the terms are added as whole numbers of 2⁻⁵⁸ nats: exact, and finer
//! than f64 resolves a sum of this size.

const SCALE: f64 = (1u64 << 58) as f64;

/// An entropy being added up. ln K stays below 32 nats for any K, so that it cannot overflow.
#[derive(Clone, Copy, Default)]
pub(crate) struct Entropy(i64);

impl Entropy {
    /// Adds the term of a probability above 0, whose logarithm is at hand.
    #[inline]
    pub(crate) fn add(&mut self, probability: f64, logarithm: f64) {
        self.0 += (probability * -logarithm * SCALE) as i64;
    }

    /// The entropy in nats.
    #[inline]
    pub(crate) fn nats(self) -> f64 {
        self.0 as f64 / SCALE
    }
}

/// The entropy of a distribution; `scratch` has a place for each class.
pub(crate) fn entropy(distribution: &[f64], scratch: &mut [usize]) -> f64 {
    let mut sum = Entropy::default();
    for &class in positive(distribution, scratch) {
        let p = distribution[class];
        sum.add(p, p.ln());
    }
    sum.nats()
}

/// The classes with a probability above 0. Which classes got votes is hard to foresee, so that
/// collecting them without a branch pays where each is then worth a logarithm.
#[inline]
pub(crate) fn positive<'s>(row: &[f64], scratch: &'s mut [usize]) -> &'s [usize] {
    let mut count = 0;
    for (class, &value) in row.iter().enumerate() {
        scratch[count] = class;
        count += usize::from(value > 0.0);
    }
    &scratch[..count]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_core_and_ties_exactly() {
        let counts = [49.0, 1.0, 1.0, 7.0];
        let shares = counts.map(|c| c / 58.0);
        let entropy = |p: &[f64]| entropy(p, &mut vec![0; p.len()]);
        assert!((entropy(&shares) - dissensus_core::entropy(&counts)).abs() < 1e-15);
        for order in [[1, 0, 2, 3], [3, 2, 1, 0], [2, 3, 0, 1], [1, 3, 2, 0]] {
            assert_eq!(entropy(&order.map(|at: usize| shares[at])), entropy(&shares));
        }
        assert_eq!(entropy(&[1.0, 0.0]), 0.0);
        assert!((entropy(&[1e-3; 1000]) - 1000f64.ln()).abs() < 1e-14);
    }
}
