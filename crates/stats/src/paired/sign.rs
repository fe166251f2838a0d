//! The sign test: of the n pairs that differ, as many should be positive as negative; the number
//! of positive ones is binomial, B(n, ½). Exact at every n. J. Arbuthnott (1710); W. J. Conover,
//! *Practical Nonparametric Statistics*, §3.4.

use serde::{Deserialize, Serialize};

use crate::special::half_binomial_lower;
use crate::{Alternative, StatsError, Undefined, check};

/// What the test found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignResult {
    /// The side.
    pub alternative: Alternative,
    /// Pairs given.
    pub n: usize,
    /// Of these, without a difference; they are dropped.
    pub n_zero: usize,
    /// Of these, with a difference.
    pub n_used: usize,
    /// Differences above zero.
    pub positive: usize,
    /// Differences below zero.
    pub negative: usize,
    /// The p value, exact.
    pub p: Option<f64>,
    /// Why there is no p.
    pub undefined: Option<Undefined>,
}

/// Tests whether positive and negative differences are equally likely.
pub fn sign_test(differences: &[f64], alternative: Alternative) -> Result<SignResult, StatsError> {
    check::finite("differences", differences)?;
    let n = differences.len();
    let positive = differences.iter().filter(|d| **d > 0.0).count();
    let negative = differences.iter().filter(|d| **d < 0.0).count();
    let n_used = positive + negative;
    let tail = |count: usize| half_binomial_lower(count as u64, n_used as u64);
    let p = (n_used > 0).then(|| alternative.p(tail(positive), tail(negative)));
    let undefined = (n_used == 0).then_some(Undefined::NoDifferences);
    let n_zero = n - n_used;
    Ok(SignResult { alternative, n, n_zero, n_used, positive, negative, p, undefined })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_dropped_and_alone_undefined() {
        let result = sign_test(&[1.0, 0.0, 2.0, -0.0, 3.0], Alternative::TwoSided).unwrap();
        assert_eq!((result.n, result.n_zero, result.n_used), (5, 2, 3));
        assert_eq!(result.p, Some(0.25));
        let nothing = sign_test(&[0.0], Alternative::Less).unwrap();
        assert_eq!((nothing.p, nothing.undefined), (None, Some(Undefined::NoDifferences)));
        assert!(sign_test(&[f64::INFINITY], Alternative::Less).is_err());
    }

    #[test]
    fn sides_add_up() {
        let less = sign_test(&[1.0, -1.0, 2.0, 4.0], Alternative::Less).unwrap().p.unwrap();
        let greater = sign_test(&[1.0, -1.0, 2.0, 4.0], Alternative::Greater).unwrap().p.unwrap();
        // Both tails count what was observed: C(4, 3) / 16 twice.
        assert!((less + greater - 1.25).abs() < 1e-15);
        let even = sign_test(&[1.0, -1.0], Alternative::TwoSided).unwrap();
        assert_eq!(even.p, Some(1.0));
    }
}
