//! Benjamini and Hochberg's step-up correction: with p₍₁₎ ≤ … ≤ p₍ₘ₎,
//!
//! p̃₍ᵢ₎ = min over j ≥ i of min(1, (m / j) p₍ⱼ₎).
//!
//! Rejecting where p̃ ≤ α keeps the expected share of false rejections at α for independent (or
//! positively dependent) tests. Y. Benjamini and Y. Hochberg, *Controlling the false discovery
//! rate* (1995).

use super::ascending;
use crate::StatsError;

/// Benjamini–Hochberg-adjusted p values, in the order given.
pub fn benjamini_hochberg(p: &[f64]) -> Result<Vec<f64>, StatsError> {
    let mut adjusted = vec![0.0; p.len()];
    let mut smallest = 1f64;
    for (place, at) in ascending(p)?.into_iter().enumerate().rev() {
        smallest = smallest.min(p.len() as f64 / (place + 1) as f64 * p[at]);
        adjusted[at] = smallest;
    }
    Ok(adjusted)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy 1.17.1, on the fifteen p values of the 1995 paper's example, reordered:
    ///
    /// ```python
    /// p = [.0095, .0001, .0201, .0004, .0278, .0019, .0298, 1.0, .0344, .7590, .0459, .6528,
    ///      .3240, .5719, .4262]
    /// print(scipy.stats.false_discovery_control(p, method="bh").tolist())
    /// ```
    #[test]
    fn the_papers_example_as_scipy() {
        let p = [
            0.0095, 0.0001, 0.0201, 0.0004, 0.0278, 0.0019, 0.0298, 1.0, 0.0344, 0.7590, 0.0459,
            0.6528, 0.3240, 0.5719, 0.4262,
        ];
        let ours = benjamini_hochberg(&p).unwrap();
        for (ours, theirs) in ours.iter().zip(GOLDEN) {
            assert!((ours - theirs).abs() < 1e-15, "{ours} {theirs}");
        }
        assert!(benjamini_hochberg(&[f64::NAN]).is_err());
        assert_eq!(benjamini_hochberg(&[]).unwrap(), [0.0; 0]);
    }

    const GOLDEN: [f64; 15] = [
        0.035625,
        0.0015,
        0.0603,
        0.003,
        0.06385714285714286,
        0.0095,
        0.06385714285714286,
        1.0,
        0.0645,
        0.8132142857142857,
        0.07650000000000001,
        0.7532307692307693,
        0.486,
        0.7148749999999999,
        0.5811818181818181,
    ];
}
