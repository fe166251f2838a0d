//! Spearman's partial correlation: that of x and y with the linear effect of the ranks of z removed
//! from the ranks of both, (r_xy − r_xz r_yz) / √((1 − r_xz²)(1 − r_yz²)). M. G. Kendall, *Partial
//! rank correlation* (1942).

use super::{CorrelationSettings, spearman};
use crate::StatsError;

/// Spearman's correlation of x and y given z, from −1 to 1; `None` where a sample does not vary, and
/// where z ranks x or y completely.
pub fn partial_spearman(x: &[f64], y: &[f64], z: &[f64]) -> Result<Option<f64>, StatsError> {
    let settings = CorrelationSettings::default();
    let r = |a: &[f64], b: &[f64]| spearman(a, b, &settings).map(|found| found.r);
    let (Some(xy), Some(xz), Some(yz)) = (r(x, y)?, r(x, z)?, r(y, z)?) else { return Ok(None) };
    let left = |r: f64| (1.0 - r) * (1.0 + r);
    let scale = (left(xz) * left(yz)).sqrt();
    Ok((scale > 0.0).then(|| ((xy - xz * yz) / scale).clamp(-1.0, 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pearson's correlation of what is left of the ranks of x and y after a regression on those of z.
    #[test]
    fn is_the_correlation_of_residuals_of_ranks() {
        let x = [2.0, 1.0, 4.0, 3.0, 5.0, 6.0];
        let y = [1.0, 3.0, 2.0, 6.0, 4.0, 5.0];
        let z = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let residuals = |v: &[f64]| -> Vec<f64> {
            let products = v.iter().zip(&z).map(|(v, z)| (v - 3.5) * (z - 3.5));
            let slope = products.sum::<f64>() / 17.5;
            v.iter().zip(&z).map(|(v, z)| v - 3.5 - slope * (z - 3.5)).collect()
        };
        let (a, b) = (residuals(&x), residuals(&y));
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let expected = dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt();
        let found = partial_spearman(&x, &y, &z).unwrap().unwrap();
        assert!((found - expected).abs() < 1e-15, "{found} {expected}");
        // Only ranks count, and a z that is unrelated to both changes nothing.
        let cubes = x.map(|x: f64| x.powi(3));
        assert_eq!(partial_spearman(&cubes, &y, &z).unwrap(), Some(found));
        let unrelated = [1.0, 2.0, 2.0, 1.0];
        let plain = partial_spearman(&[1.0, 2.0, 3.0, 4.0], &[1.0, 3.0, 2.0, 4.0], &unrelated);
        assert!((plain.unwrap().unwrap() - 0.8).abs() < 1e-15);
    }

    #[test]
    fn undefined_and_refused() {
        let (x, y) = ([1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 4.0, 3.0]);
        assert_eq!(partial_spearman(&x, &y, &[1.0; 4]), Ok(None));
        assert_eq!(partial_spearman(&x, &y, &x), Ok(None));
        assert!(matches!(partial_spearman(&x, &y, &x[..3]), Err(StatsError::Lengths { .. })));
    }
}
