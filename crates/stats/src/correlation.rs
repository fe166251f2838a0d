//! Correlations between two samples: the list, the p value, the result.
//!
//! p is that of t = r √((n − 2) / (1 − r²)) with n − 2 degrees of freedom (for Spearman an
//! approximation), or on request exact: the share of all n! ways to pair the samples whose
//! correlation is at least as extreme, two-sided twice the smaller tail, as scipy does it.

mod pairings;
mod partial;
mod pearson;
mod spearman;

use serde::{Deserialize, Serialize};

pub use self::pairings::EXACT_PAIRINGS_LIMIT;
pub use self::partial::partial_spearman;
pub use self::pearson::pearson;
pub use self::spearman::spearman;
use crate::special::t_sf;
use crate::{Alternative, StatsError, Undefined};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Correlation {
    /// Spearman's rank correlation.
    #[default]
    Spearman,
    /// Pearson's product-moment correlation.
    Pearson,
}

/// Where the p of a correlation comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CorrelationMethod {
    /// Student's t with n − 2 degrees of freedom. An approximation that gives p = 0 at r = ±1,
    /// which for a handful of pairs is far from the truth: there ask for the exact one.
    #[default]
    T,
    /// All n! pairings; up to [`EXACT_PAIRINGS_LIMIT`] pairs.
    Exact,
}

/// How to test a correlation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct CorrelationSettings {
    /// The side.
    pub alternative: Alternative,
    /// Where p comes from.
    pub method: CorrelationMethod,
}

/// A correlation and its p value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CorrelationResult {
    pub correlation: Correlation,
    /// How it was tested.
    pub settings: CorrelationSettings,
    /// Pairs given.
    pub n: usize,
    /// The correlation, from −1 to 1; `None` where a sample does not vary.
    pub r: Option<f64>,
    /// The p value; `None` also where r is forced to ±1 by two pairs.
    pub p: Option<f64>,
    /// Why r or p is missing.
    pub undefined: Option<Undefined>,
}

impl Correlation {
    /// All of them, in the order of the help.
    pub const ALL: [Self; 2] = [Self::Spearman, Self::Pearson];

    /// Computes and tests it.
    pub fn run(
        self,
        x: &[f64],
        y: &[f64],
        settings: &CorrelationSettings,
    ) -> Result<CorrelationResult, StatsError> {
        match self {
            Self::Spearman => spearman(x, y, settings),
            Self::Pearson => pearson(x, y, settings),
        }
    }
}

/// r, and both tails of its exact distribution where those were asked for.
struct Coefficient {
    r: Option<f64>,
    exact: Option<(f64, f64)>,
}

fn result(
    correlation: Correlation,
    settings: &CorrelationSettings,
    n: usize,
    found: Coefficient,
) -> CorrelationResult {
    let mut result = CorrelationResult {
        correlation,
        settings: *settings,
        n,
        r: found.r,
        p: None,
        undefined: None,
    };
    result.undefined = match (found.r, found.exact) {
        _ if n < 2 => Some(Undefined::TooFew { n, needed: 2 }),
        (None, _) => Some(Undefined::NoVariation),
        (Some(_), Some((less, greater))) => {
            result.p = Some(settings.alternative.p(less, greater));
            None
        }
        (Some(_), None) if n < 3 => Some(Undefined::TooFew { n, needed: 3 }),
        (Some(r), None) => {
            let df = (n - 2) as f64;
            // r = ±1 makes t infinite and p 0 or 1, the limit of samples that near a line.
            let t = r * (df / ((1.0 - r) * (1.0 + r))).sqrt();
            result.p = Some(settings.alternative.p(t_sf(-t, df), t_sf(t, df)));
            None
        }
    };
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_names() {
        assert_eq!(serde_json::json!(Correlation::ALL), serde_json::json!(["spearman", "pearson"]));
    }

    #[test]
    fn undefined_and_refused() {
        for correlation in Correlation::ALL {
            for method in [CorrelationMethod::T, CorrelationMethod::Exact] {
                let settings = CorrelationSettings { method, ..Default::default() };
                let run = |x: &[f64], y: &[f64]| correlation.run(x, y, &settings);
                let constant = run(&[1.0, 2.0, 3.0], &[0.1; 3]).unwrap();
                assert_eq!((constant.r, constant.p), (None, None));
                assert_eq!(constant.undefined, Some(Undefined::NoVariation));
                let one = run(&[1.0], &[2.0]).unwrap();
                assert_eq!(one.undefined, Some(Undefined::TooFew { n: 1, needed: 2 }));
                assert!(matches!(run(&[1.0], &[]), Err(StatsError::Lengths { .. })));
                assert!(matches!(run(&[], &[]), Err(StatsError::Empty { what: "x" })));
                let nan = run(&[1.0, 2.0], &[1.0, f64::NAN]);
                assert!(matches!(nan, Err(StatsError::NotFinite { what: "y", index: 1, .. })));
            }
            let two = correlation.run(&[1.0, 2.0], &[5.0, 3.0], &Default::default()).unwrap();
            assert_eq!((two.r, two.p), (Some(-1.0), None));
            assert_eq!(two.undefined, Some(Undefined::TooFew { n: 2, needed: 3 }));
            let line = correlation.run(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0], &Default::default());
            assert_eq!(line.map(|line| (line.r, line.p)), Ok((Some(1.0), Some(0.0))));
        }
    }
}
