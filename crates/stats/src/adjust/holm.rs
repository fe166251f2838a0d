//! Holm's step-down correction: with p₍₁₎ ≤ … ≤ p₍ₘ₎,
//!
//! p̃₍ᵢ₎ = max over j ≤ i of min(1, (m − j + 1) p₍ⱼ₎).
//!
//! Rejecting where p̃ ≤ α keeps the chance of any false rejection at α, whatever the dependence.
//! S. Holm, *A simple sequentially rejective multiple test procedure* (1979).

use super::ascending;
use crate::StatsError;

/// Holm-adjusted p values, in the order given.
pub fn holm(p: &[f64]) -> Result<Vec<f64>, StatsError> {
    let mut adjusted = vec![0.0; p.len()];
    let mut largest = 0f64;
    for (place, at) in ascending(p)?.into_iter().enumerate() {
        largest = largest.max((p.len() - place) as f64 * p[at]).min(1.0);
        adjusted[at] = largest;
    }
    Ok(adjusted)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Holm's own example, α = 0.05 with p = 0.01, 0.03, 0.04: only the first is rejected.
    #[test]
    fn steps_down_until_one_fails() {
        let adjusted = holm(&[0.04, 0.01, 0.03]).unwrap();
        assert_eq!(adjusted, [0.06, 0.03, 0.06]);
        assert_eq!(holm(&[0.9, 0.8]).unwrap(), [1.0, 1.0]);
        assert!(holm(&[-0.1]).is_err());
    }

    proptest! {
        /// Holm is Bonferroni closed: p̃ᵢ is the largest Bonferroni p, |S| min p, over all
        /// sets S of hypotheses that contain i.
        #[test]
        fn is_the_closure_of_bonferroni(p in prop::collection::vec(0.0..=1.0, 1..8)) {
            let adjusted = holm(&p).unwrap();
            for (i, value) in adjusted.into_iter().enumerate() {
                let sets = (1u32..1 << p.len()).filter(|set| set >> i & 1 == 1);
                let bonferroni = sets.map(|set| {
                    let members = (0..p.len()).filter(|j| set >> j & 1 == 1).map(|j| p[j]);
                    (f64::from(set.count_ones()) * members.fold(1.0, f64::min)).min(1.0)
                });
                prop_assert_eq!(value, bonferroni.fold(0.0, f64::max));
            }
        }
    }
}
