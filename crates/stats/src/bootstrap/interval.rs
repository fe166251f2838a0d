//! How an interval is read off bootstrap replicates: the list.
//!
//! Percentile: the α/2 and 1 − α/2 quantiles of the replicates. BCa (bias-corrected and
//! accelerated) moves these levels to Φ(z₀ + (z₀ + z) / (1 − a (z₀ + z))), z = Φ⁻¹(α/2) and
//! Φ⁻¹(1 − α/2), with z₀ from the share of replicates below the estimate and the acceleration from
//! the jackknife, a = Σ uᵢ³ / (6 (Σ uᵢ²)^1.5), uᵢ = θ̄ − θ₍ᵢ₎. B. Efron, *Better bootstrap
//! confidence intervals* (1987).

use serde::{Deserialize, Serialize};

use crate::Undefined;
use crate::describe::{Centred, compensated_sum, scale};
use crate::special::{normal_cdf, normal_quantile};

/// The bootstrap intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IntervalMethod {
    /// Bias-corrected and accelerated.
    #[default]
    Bca,
    /// Quantiles of the replicates.
    Percentile,
}

pub(super) fn percentile_levels(confidence: f64) -> (f64, f64) {
    let tail = (1.0 - confidence) / 2.0;
    (tail, 1.0 - tail)
}

/// The acceleration from jackknife values; `None` where they do not vary.
pub(super) fn acceleration(values: &[f64]) -> Option<f64> {
    let centred = Centred::new(values, scale(values));
    if !centred.varies {
        return None;
    }
    // The ratio is blind to scale, which is brought to 1 so that cubes neither vanish nor overflow.
    let largest = centred.values.iter().fold(0f64, |largest, u| largest.max(u.abs()));
    let influence = || centred.values.iter().map(|u| -u / largest);
    let squares = compensated_sum(influence().map(|u| u * u));
    let cubes = compensated_sum(influence().map(|u| u * u * u));
    Some(cubes / (6.0 * squares * squares.sqrt()))
}

/// The levels of the BCa interval.
pub(super) fn bca_levels(
    bias: Option<f64>,
    acceleration: Option<f64>,
    confidence: f64,
) -> Result<(f64, f64), Undefined> {
    let bias = bias.ok_or(Undefined::OneSided)?;
    let acceleration = acceleration.ok_or(Undefined::Jackknife)?;
    let z = normal_quantile((1.0 - confidence) / 2.0);
    let level = |z: f64| {
        let spread = 1.0 - acceleration * (bias + z);
        // At zero the level passes infinity and comes back from the other side.
        (spread > 0.0).then(|| normal_cdf(bias + (bias + z) / spread))
    };
    level(z).zip(level(-z)).ok_or(Undefined::Acceleration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_names() {
        let all = [IntervalMethod::Bca, IntervalMethod::Percentile];
        assert_eq!(serde_json::json!(all), serde_json::json!(["bca", "percentile"]));
    }

    #[test]
    fn without_bias_and_acceleration_bca_is_percentile() {
        let (low, high) = bca_levels(Some(0.0), Some(0.0), 0.9).unwrap();
        assert!((low - 0.05).abs() < 1e-15 && (high - 0.95).abs() < 1e-15);
        let (a, b) = percentile_levels(0.9);
        assert!((a - 0.05).abs() < 1e-15 && (b - 0.95).abs() < 1e-15);
    }

    #[test]
    fn undefined_levels_say_why() {
        assert_eq!(bca_levels(None, Some(0.0), 0.95), Err(Undefined::OneSided));
        assert_eq!(bca_levels(Some(0.0), None, 0.95), Err(Undefined::Jackknife));
        assert_eq!(bca_levels(Some(0.0), Some(0.6), 0.95), Err(Undefined::Acceleration));
        assert_eq!(acceleration(&[0.1; 4]), None);
    }

    /// For a mean, a = Σ (x − x̄)³ / (6 (Σ (x − x̄)²)^1.5): 1/6 of the skewness over √n.
    #[test]
    fn acceleration_of_a_mean() {
        let without = |sum: f64| [0.0, 0.0, 6.0].map(|x| (sum - x) / 2.0);
        // Deviations −2, −2, 4: 48 / (6 · 24^1.5).
        let a = acceleration(&without(6.0)).unwrap();
        assert!((a - 48.0 / (6.0 * 24f64.powf(1.5))).abs() < 1e-15, "{a}");
    }
}
