//! Adjusted p values for a family of tests: the list of corrections.

mod benjamini_hochberg;
mod holm;

use serde::{Deserialize, Serialize};

pub use self::benjamini_hochberg::benjamini_hochberg;
pub use self::holm::holm;
use crate::StatsError;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Correction {
    /// Holm's step-down: bounds the chance of any false rejection.
    #[default]
    Holm,
    /// Benjamini and Hochberg's step-up: bounds the expected share of false rejections.
    BenjaminiHochberg,
}

/// Adjusted p values, and how they came about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Adjusted {
    pub correction: Correction,
    /// How many tests it counted: those with a p.
    pub family: usize,
    /// One for each p given, in its order; `None` where it was `None`.
    pub p: Vec<Option<f64>>,
}

impl Correction {
    /// Adjusts a family of p values. Tests without one (undefined) are no part of the family, as
    /// missing values in R's `p.adjust`.
    pub fn adjust(self, p: &[Option<f64>]) -> Result<Adjusted, StatsError> {
        // Checked here, where the index is still that of the caller.
        for (index, value) in p.iter().enumerate() {
            if let Some(value) = value {
                check_p(index, *value)?;
            }
        }
        let defined: Vec<f64> = p.iter().flatten().copied().collect();
        let adjusted = match self {
            Self::Holm => holm(&defined)?,
            Self::BenjaminiHochberg => benjamini_hochberg(&defined)?,
        };
        let mut rest = adjusted.into_iter();
        let family = defined.len();
        let p = p.iter().map(|value| value.and_then(|_| rest.next())).collect();
        Ok(Adjusted { correction: self, family, p })
    }
}

fn check_p(index: usize, value: f64) -> Result<(), StatsError> {
    match (0.0..=1.0).contains(&value) {
        true => Ok(()),
        false => Err(StatsError::NotProbability { what: "p", index, value }),
    }
}

/// The positions of checked p values, smallest p first.
fn ascending(p: &[f64]) -> Result<Vec<usize>, StatsError> {
    p.iter().enumerate().try_for_each(|(index, value)| check_p(index, *value))?;
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    Ok(order)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn stored_names() {
        let all = [Correction::Holm, Correction::BenjaminiHochberg];
        assert_eq!(serde_json::json!(all), serde_json::json!(["holm", "benjamini-hochberg"]));
    }

    #[test]
    fn undefined_tests_do_not_count() {
        let adjusted = Correction::Holm.adjust(&[Some(0.01), None, Some(0.04)]).unwrap();
        assert_eq!((adjusted.family, adjusted.p), (2, vec![Some(0.02), None, Some(0.04)]));
        let bad = Correction::Holm.adjust(&[None, Some(1.5)]);
        assert_eq!(bad, Err(StatsError::NotProbability { what: "p", index: 1, value: 1.5 }));
        assert!(Correction::BenjaminiHochberg.adjust(&[Some(f64::NAN)]).is_err());
        assert_eq!(Correction::Holm.adjust(&[]).unwrap().family, 0);
    }

    proptest! {
        #[test]
        fn corrections_raise_p_and_keep_its_order(p in prop::collection::vec(0.0..=1.0, 1..15)) {
            let (step_down, step_up) = (holm(&p).unwrap(), benjamini_hochberg(&p).unwrap());
            for i in 0..p.len() {
                // One rounding (m/j times p) may fall below p by an ulp.
                prop_assert!(p[i] <= step_up[i] * (1.0 + 1e-15));
                prop_assert!(step_up[i] <= step_down[i] * (1.0 + 1e-15) && step_down[i] <= 1.0);
                for j in 0..p.len() {
                    prop_assert!(p[i] > p[j] || step_up[i] <= step_up[j]);
                    prop_assert!(p[i] > p[j] || step_down[i] <= step_down[j]);
                }
            }
        }
    }
}
