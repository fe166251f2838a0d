//! Pearson's and Spearman's correlation coefficients of two columns of a million.
//!
//! `r = Σ (x − x̄)(y − ȳ) / √(Σ (x − x̄)² Σ (y − ȳ)²)`; Spearman's ρ is r of the midranks. Undefined
//! (`None`) where a column varies by no more than the rounding of its mean. Coefficients only: the
//! tests on them belong to the statistics crate.

use crate::order::midranks;
use crate::sums::{mean, sum2};

/// Pearson's r.
pub(crate) fn pearson(x: &[f64], y: &[f64]) -> Option<f64> {
    let (mean_x, mean_y) = (mean(x)?, mean(y)?);
    if !varies(x, mean_x) || !varies(y, mean_y) {
        return None;
    }
    let xy = sum2(x, y, |x, y| (x - mean_x) * (y - mean_y));
    let xx = sum2(x, x, |x, _| (x - mean_x) * (x - mean_x));
    let yy = sum2(y, y, |y, _| (y - mean_y) * (y - mean_y));
    let r = xy / (xx * yy).sqrt();
    r.is_finite().then(|| r.clamp(-1.0, 1.0))
}

/// Spearman's ρ.
pub(crate) fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    if !varies(x, mean(x)?) || !varies(y, mean(y)?) {
        return None;
    }
    let (x, y) = rayon::join(|| midranks(x), || midranks(y));
    pearson(&x, &y)
}

fn varies(values: &[f64], mean: f64) -> bool {
    values.iter().any(|v| (v - mean).abs() > 10.0 * f64::EPSILON * mean.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy 1.17.1, reference/measure/small.py:
    ///
    /// ```python
    /// x, y = [0.5, 0.1, 0.1, 2.0, -1.0, 0.0], [1.0, 0.3, 0.2, 0.2, -4.0, 8.0]
    /// print(scipy.stats.pearsonr(x, y)[0], scipy.stats.spearmanr(x, y)[0])
    /// ```
    #[test]
    fn as_scipy() {
        let (x, y) = ([0.5, 0.1, 0.1, 2.0, -1.0, 0.0], [1.0, 0.3, 0.2, 0.2, -4.0, 8.0]);
        assert!((pearson(&x, &y).unwrap() - PEARSON).abs() < 1e-14);
        assert!((spearman(&x, &y).unwrap() - SPEARMAN).abs() < 1e-14);
    }

    #[test]
    fn constants_have_no_correlation() {
        assert_eq!(pearson(&[0.1, 0.1, 0.1], &[1.0, 2.0, 3.0]), None);
        assert_eq!(spearman(&[0.3 - 0.2, 0.2 - 0.1, 0.1], &[1.0, 2.0, 3.0]), None);
        assert_eq!(pearson(&[1.0], &[1.0]), None);
        assert_eq!(spearman(&[], &[]), None);
        assert_eq!(spearman(&[1.0, 2.0, 9.0], &[-1.0, 0.0, 7.0]), Some(1.0));
    }

    const PEARSON: f64 = 0.17510477902932148;
    const SPEARMAN: f64 = 0.1323529411764706;
}
