//! What a sample looks like: mean, standard deviation, median, quantiles.
//!
//! The standard deviation is the sample's, √(Σ (x − x̄)² / (n − 1)), undefined for one value.
//! Quantiles interpolate linearly between order statistics at place q (n − 1): type 7 of Hyndman
//! and Fan, *Sample quantiles in statistical packages* (1996), numpy's default.

use crate::{StatsError, check};

pub fn mean(values: &[f64]) -> Result<f64, StatsError> {
    check::finite("values", values)?;
    Ok(moments(values).mean)
}

/// The sample standard deviation (n − 1); `None` for one value.
pub fn sd(values: &[f64]) -> Result<Option<f64>, StatsError> {
    check::finite("values", values)?;
    finite_sd(&moments(values))
}

/// The middle value, or the mean of the middle two.
pub fn median(values: &[f64]) -> Result<f64, StatsError> {
    check::finite("values", values)?;
    let sorted = sorted(values);
    let n = sorted.len();
    Ok(f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2]))
}

/// The values at these shares of the sample (type 7), each share from 0 to 1.
pub fn quantiles(values: &[f64], shares: &[f64]) -> Result<Vec<f64>, StatsError> {
    check::finite("values", values)?;
    if let Some(index) = shares.iter().position(|q| !(0.0..=1.0).contains(q)) {
        let value = shares[index];
        return Err(StatsError::NotProbability { what: "shares", index, value });
    }
    let sorted = sorted(values);
    Ok(shares.iter().map(|&q| quantile_of_sorted(&sorted, q)).collect())
}

fn finite_sd(moments: &Moments) -> Result<Option<f64>, StatsError> {
    match moments.sd {
        Some(sd) if !sd.is_finite() => Err(StatsError::Overflow { what: "standard deviation" }),
        sd => Ok(sd),
    }
}

pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// The quantile of a sorted sample that is not empty, at `q` from 0 to 1.
pub(crate) fn quantile_of_sorted(sorted: &[f64], q: f64) -> f64 {
    let place = q * (sorted.len() - 1) as f64;
    let below = (place as usize).min(sorted.len() - 1);
    let (a, b) = (sorted[below], sorted[(below + 1).min(sorted.len() - 1)]);
    let share = place - below as f64;
    let step = b - a;
    match step.is_finite() {
        // As numpy does it: from the nearer end, so that both ends are met exactly.
        true if share >= 0.5 => b - step * (1.0 - share),
        true => a + step * share,
        false => a * (1.0 - share) + b * share,
    }
}

/// Mean and spread of a finite sample.
pub(crate) struct Moments {
    pub(crate) mean: f64,
    /// `None` below two values; infinite where the true one leaves f64.
    pub(crate) sd: Option<f64>,
    /// Whether the values differ by more than the rounding of their mean. Differences of scores
    /// that should be equal (0.3 − 0.2, 0.2 − 0.1) do not count as variation.
    pub(crate) varies: bool,
}

pub(crate) fn moments(values: &[f64]) -> Moments {
    let n = values.len() as f64;
    let scale = scale(values);
    let centred = Centred::new(values, scale);
    let mean = centred.mean * scale;
    let squares = compensated_sum(centred.values.iter().map(|d| d * d));
    let sd = (values.len() > 1).then(|| (squares / (n - 1.0)).sqrt() * scale);
    Moments { mean, sd, varies: centred.varies }
}

/// Deviations from the mean of values divided by `scale`.
pub(crate) struct Centred {
    pub(crate) mean: f64,
    pub(crate) values: Vec<f64>,
    pub(crate) varies: bool,
}

impl Centred {
    pub(crate) fn new(values: &[f64], scale: f64) -> Self {
        let constant = values.windows(2).all(|pair| pair[0] == pair[1]);
        let mean = match values.first() {
            // The sum of equal values, divided, need not be that value again.
            Some(first) if constant => first / scale,
            _ => compensated_sum(values.iter().map(|v| v / scale)) / values.len() as f64,
        };
        let values: Vec<f64> = values.iter().map(|v| v / scale - mean).collect();
        let largest = values.iter().fold(0f64, |largest, d| largest.max(d.abs()));
        Self { mean, values, varies: largest > 10.0 * f64::EPSILON * mean.abs() }
    }
}

/// A power of two that brings extreme values near 1, so that products of their squares stay in
/// range; 1 for all others. Dividing by it is exact.
pub(crate) fn scale(values: &[f64]) -> f64 {
    let largest = values.iter().fold(0f64, |largest, v| largest.max(v.abs()));
    if largest == 0.0 || (1e-60..1e60).contains(&largest) {
        return 1.0;
    }
    libm::scalbn(1.0, libm::ilogb(largest))
}

/// Neumaier's sum: the rounding of every step is kept and added at the end.
pub(crate) fn compensated_sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0f64, 0f64);
    for value in values {
        let next = sum + value;
        lost += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    sum + lost
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// numpy 2.4.6:
    ///
    /// ```python
    /// x = np.array([2.5, -1.25, 0.1, 7.75, 3.3, 0.1, 12.0])
    /// print(repr(x.mean()), repr(x.std(ddof=1)), repr(np.median(x)))
    /// print(np.quantile(x, [0.0, 0.025, 0.25, 0.6, 0.75, 0.9, 1.0]).tolist())
    /// ```
    #[test]
    fn as_numpy() {
        let x = [2.5, -1.25, 0.1, 7.75, 3.3, 0.1, 12.0];
        assert!((mean(&x).unwrap() - MEAN).abs() < 1e-15);
        assert!((sd(&x).unwrap().unwrap() - SD).abs() < 1e-14);
        assert_eq!(median(&x).unwrap(), 2.5);
        let ours = quantiles(&x, &[0.0, 0.025, 0.25, 0.6, 0.75, 0.9, 1.0]).unwrap();
        assert_eq!(ours, QUANTILES);
    }

    #[test]
    fn few_equal_and_extreme_values() {
        assert_eq!(sd(&[3.0]).unwrap(), None);
        assert_eq!(sd(&[0.1; 7]).unwrap(), Some(0.0));
        assert_eq!(mean(&[0.1; 7]).unwrap(), 0.1);
        assert!(!moments(&[0.3 - 0.2, 0.2 - 0.1, 0.1]).varies);
        assert!(moments(&[0.1, 0.100001]).varies);
        assert_eq!(mean(&[f64::MAX, f64::MAX, -f64::MAX]).unwrap(), f64::MAX / 3.0);
        let tiny = sd(&[1e-200, 3e-200]).unwrap().unwrap();
        assert!((tiny / 2f64.sqrt() / 1e-200 - 1.0).abs() < 1e-15);
        let overflow = StatsError::Overflow { what: "standard deviation" };
        assert_eq!(sd(&[f64::MAX, -f64::MAX]), Err(overflow));
        assert_eq!(median(&[f64::MAX, f64::MAX]).unwrap(), f64::MAX);
        assert_eq!(quantiles(&[-f64::MAX, f64::MAX], &[0.5]).unwrap(), [0.0]);
        assert!(quantiles(&[1.0], &[0.5, 1.5]).is_err());
        assert!(mean(&[]).is_err() && median(&[f64::NAN]).is_err());
    }

    proptest! {
        #[test]
        fn quantiles_rise_and_stay_inside(
            values in prop::collection::vec(-1e9..1e9f64, 1..30), a in 0.0..=1.0, b in 0.0..=1.0,
        ) {
            let q = quantiles(&values, &[0.0, f64::min(a, b), f64::max(a, b), 1.0]).unwrap();
            // numpy's two forms of the same line may round apart where they meet.
            prop_assert!(q.windows(2).all(|pair| pair[0] <= pair[1] + 1e-6), "{:?}", q);
        }
    }

    const MEAN: f64 = 3.5;
    const SD: f64 = 4.77903407255762;
    const QUANTILES: [f64; 7] =
        [-1.25, -1.0474999999999999, 0.1, 2.9799999999999995, 5.525, 9.450000000000001, 12.0];
}
