//! The paired t test: t = d̄ / (s / √n) with n − 1 degrees of freedom, d̄ and s the mean and the
//! sample standard deviation of the differences. Student, *The probable error of a mean* (1908).

use serde::{Deserialize, Serialize};

use crate::describe::{Moments, moments};
use crate::special::t_sf;
use crate::{Alternative, StatsError, Undefined, check};

/// What the test found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairedTResult {
    /// The side.
    pub alternative: Alternative,
    pub n: usize,
    /// The mean difference.
    pub mean: f64,
    /// The sample standard deviation of the differences; `None` for one pair.
    pub sd: Option<f64>,
    /// The t statistic.
    pub t: Option<f64>,
    /// Its degrees of freedom.
    pub df: usize,
    pub p: Option<f64>,
    /// Why there is no p.
    pub undefined: Option<Undefined>,
}

/// Tests whether the mean of the differences is zero.
pub fn paired_t(
    differences: &[f64],
    alternative: Alternative,
) -> Result<PairedTResult, StatsError> {
    check::finite("differences", differences)?;
    let n = differences.len();
    let Moments { mean, sd, varies } = moments(differences);
    let df = n - 1;
    let mut result =
        PairedTResult { alternative, n, mean, sd, t: None, df, p: None, undefined: None };
    match sd {
        None => result.undefined = Some(Undefined::TooFew { n, needed: 2 }),
        Some(sd) if !sd.is_finite() => {
            return Err(StatsError::Overflow { what: "standard deviation" });
        }
        Some(_) if !varies => result.undefined = Some(Undefined::NoVariation),
        Some(sd) => {
            // Divided in this order neither sd · √n nor mean · √n can leave the range.
            let t = mean / sd * (n as f64).sqrt();
            result.t = Some(t);
            result.p = Some(alternative.p(t_sf(-t, df as f64), t_sf(t, df as f64)));
        }
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn undefined_where_there_is_no_spread() {
        let run = |differences: &[f64]| paired_t(differences, Alternative::TwoSided).unwrap();
        let one = run(&[1.0]);
        assert_eq!((one.p, one.sd), (None, None));
        assert_eq!(one.undefined, Some(Undefined::TooFew { n: 1, needed: 2 }));
        assert_eq!(run(&[0.0; 4]).undefined, Some(Undefined::NoVariation));
        let rounding = run(&[0.3 - 0.2, 0.2 - 0.1, 0.1]);
        assert_eq!((rounding.p, rounding.undefined), (None, Some(Undefined::NoVariation)));
        let overflow = paired_t(&[f64::MAX, -f64::MAX], Alternative::Less);
        assert!(matches!(overflow, Err(StatsError::Overflow { .. })));
        assert!(paired_t(&[], Alternative::Less).is_err());
    }

    proptest! {
        #[test]
        fn swapping_and_scaling_change_nothing(
            differences in prop::collection::vec(-1e3..1e3f64, 3..20), power in -300i32..300,
        ) {
            let scaled: Vec<f64> = differences.iter().map(|d| -d * 2f64.powi(power)).collect();
            for alternative in Alternative::ALL {
                let a = paired_t(&differences, alternative).unwrap().p.unwrap();
                let b = paired_t(&scaled, alternative.swapped()).unwrap().p.unwrap();
                prop_assert!((a - b).abs() < 1e-12, "{} {}", a, b);
            }
        }
    }
}
