//! Distributions over classes, checked when they are made, and their entropy.
//!
//! `H(p) = −Σ p_k ln p_k` in nats, with `0 ln 0 = 0`. Normalized entropy divides by `ln K`.

use serde::Serialize;
use thiserror::Error;

/// How far the sum of a distribution may be from 1. Files carry probabilities rounded to a few
/// places (ten rounded to three sum to within 0.005); what is within the tolerance is kept as it
/// came, what is not is refused.
pub const SUM_TOLERANCE: f64 = 5e-3;

/// Why a row of numbers is not a distribution.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum DistributionError {
    /// No classes.
    #[error("a distribution over no classes")]
    Empty,
    /// A value is negative, NaN or infinite.
    #[error("class {class} has the probability {value}, which is not a number from 0 to 1")]
    Value {
        /// Index of the class.
        class: usize,
        /// What it has.
        value: f64,
    },
    /// The values do not sum to one.
    #[error("the probabilities sum to {sum}, not to 1 within {SUM_TOLERANCE}")]
    Sum {
        /// Their sum.
        sum: f64,
    },
    /// Another number of values than there are classes.
    #[error("{found} probabilities for {classes} classes")]
    Classes {
        /// How many there are.
        found: usize,
        /// How many classes there are.
        classes: usize,
    },
}

/// Probabilities of the classes: none negative, and their sum 1 within [`SUM_TOLERANCE`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Distribution(Vec<f64>);

impl Distribution {
    /// Checks the values and keeps them as they are.
    pub fn new(values: Vec<f64>) -> Result<Self, DistributionError> {
        check(&values)?;
        Ok(Self(values))
    }

    /// Shares of non-negative amounts. `None` where they sum to 0 (nobody voted), or where an
    /// amount is negative or not finite.
    pub fn from_amounts(amounts: &[f64]) -> Option<Self> {
        let total: f64 = amounts.iter().sum();
        let fine = amounts.iter().all(|a| a.is_finite() && *a >= 0.0) && total.is_finite();
        (fine && total > 0.0).then(|| Self(amounts.iter().map(|a| a / total).collect()))
    }

    /// The probabilities, one a class.
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// Entropy in nats.
    pub fn entropy(&self) -> f64 {
        entropy(&self.0)
    }
}

/// Whether these values are a distribution.
pub(crate) fn check(values: &[f64]) -> Result<(), DistributionError> {
    if values.is_empty() {
        return Err(DistributionError::Empty);
    }
    let in_range = |v: f64| (0.0..=1.0 + SUM_TOLERANCE).contains(&v);
    if let Some((class, &value)) = values.iter().enumerate().find(|(_, v)| !in_range(**v)) {
        return Err(DistributionError::Value { class, value });
    }
    let sum: f64 = values.iter().sum();
    if (sum - 1.0).abs() > SUM_TOLERANCE {
        return Err(DistributionError::Sum { sum });
    }
    Ok(())
}

/// Entropy in nats of the shares of non-negative amounts; 0 where they sum to 0.
pub fn entropy(amounts: &[f64]) -> f64 {
    let total: f64 = amounts.iter().sum();
    if total <= 0.0 {
        return 0.0;
    }
    let sum: f64 = amounts.iter().filter(|a| **a > 0.0).map(|a| a / total * (a / total).ln()).sum();
    // A certain outcome sums to 0, whose negation would print as "-0".
    if sum == 0.0 { 0.0 } else { -sum }
}

/// Entropy divided by its largest value, `ln K`. `None` for fewer than two classes.
pub fn normalized_entropy(nats: f64, classes: usize) -> Option<f64> {
    (classes > 1).then(|| nats / (classes as f64).ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_is_not_a_distribution() {
        assert_eq!(Distribution::new(vec![]), Err(DistributionError::Empty));
        let negative = Distribution::new(vec![1.1, -0.1]);
        assert!(matches!(negative, Err(DistributionError::Value { class: 0, .. })));
        let nan = Distribution::new(vec![0.5, f64::NAN]);
        assert!(matches!(nan, Err(DistributionError::Value { class: 1, .. })));
        let short = Distribution::new(vec![0.5, 0.4]);
        assert_eq!(short, Err(DistributionError::Sum { sum: 0.9 }));
        assert!(Distribution::new(vec![0.333, 0.333, 0.333]).is_ok());
    }

    #[test]
    fn entropy_of_known_shares() {
        assert!((entropy(&[1.0, 1.0]) - std::f64::consts::LN_2).abs() < 1e-15);
        assert_eq!(entropy(&[3.0, 0.0]), 0.0);
        assert!(entropy(&[3.0, 0.0]).is_sign_positive());
        assert_eq!(entropy(&[0.0, 0.0]), 0.0);
        let uniform = entropy(&[2.0; 7]);
        assert!((normalized_entropy(uniform, 7).unwrap() - 1.0).abs() < 1e-15);
        assert_eq!(normalized_entropy(0.0, 1), None);
        assert_eq!(Distribution::from_amounts(&[0.0, 0.0]), None);
        assert_eq!(Distribution::from_amounts(&[1.0, f64::INFINITY]), None);
    }
}
