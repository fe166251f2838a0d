//! Intervals in closed form: nothing is drawn, so that they cost one pass and have no error of their own.
//!
//! * The mean of values that are 0 or 1 (a share): the score interval, E. B. Wilson, *Probable inference, the law of
//!   succession, and statistical inference* (1927).
//! * Any other mean: Student's t of the mean, corrected for skewness by the cubic transformation
//!   g(T) = T + γT²/(3√n) + γ²T³/(27n) + γ/(6√n), which has an inverse: P. Hall, *On the removal of skewness by
//!   transformation* (1992). γ is the skewness of the values.

use serde::{Deserialize, Serialize};

use crate::describe::{Centred, compensated_sum, scale};
use crate::special::{normal_quantile, t_quantile_upper};
use crate::{StatsError, check};

/// How an interval was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClosedForm {
    /// Wilson's score interval of a share.
    Wilson,
    /// Student's t with Hall's correction for skewness.
    Hall,
}

impl ClosedForm {
    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wilson => "wilson",
            Self::Hall => "hall",
        }
    }
}

/// An interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// How it was made.
    pub method: ClosedForm,
}

/// The interval of the mean of a population of which these values are a sample; `None` for one value. Values that do
/// not vary give the value itself.
pub fn mean_interval(values: &[f64], confidence: f64) -> Result<Option<Interval>, StatsError> {
    check::level("confidence", confidence)?;
    check::finite("values", values)?;
    if values.len() < 2 {
        return Ok(None);
    }
    let tail = (1.0 - confidence) / 2.0;
    let scale = scale(values);
    let centred = Centred::new(values, scale);
    let (low, high) = match centred.varies {
        true => hall(&centred, tail),
        false => (centred.mean, centred.mean),
    };
    let (low, high) = (low * scale, high * scale);
    if !low.is_finite() || !high.is_finite() {
        return Err(StatsError::Overflow { what: "interval" });
    }
    Ok(Some(Interval { low, high, method: ClosedForm::Hall }))
}

/// The interval of a share of a population, of which these values, each 0 or 1, are a sample; `None` for one value, and
/// where a value is neither.
pub fn share_interval(values: &[f64], confidence: f64) -> Result<Option<Interval>, StatsError> {
    check::level("confidence", confidence)?;
    check::finite("values", values)?;
    if values.len() < 2 || values.iter().any(|value| *value != 0.0 && *value != 1.0) {
        return Ok(None);
    }
    Ok(Some(wilson(values, -normal_quantile((1.0 - confidence) / 2.0))))
}

fn wilson(values: &[f64], z: f64) -> Interval {
    let n = values.len() as f64;
    let share = values.iter().sum::<f64>() / n;
    let (centre, whole) = (share + z * z / (2.0 * n), 1.0 + z * z / n);
    let half = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    let (low, high) = ((centre - half) / whole, (centre + half) / whole);
    // On paper the ends are 0 and 1 where all values are.
    let low = if share == 0.0 { 0.0 } else { low };
    let high = if share == 1.0 { 1.0 } else { high };
    Interval { low, high, method: ClosedForm::Wilson }
}

fn hall(centred: &Centred, tail: f64) -> (f64, f64) {
    let n = centred.values.len() as f64;
    let root = n.sqrt();
    let power = |power: i32| compensated_sum(centred.values.iter().map(|d| d.powi(power))) / n;
    let variance = power(2);
    let skewness = power(3) / (variance * variance.sqrt());
    let error = (variance / (n - 1.0)).sqrt();
    let t = t_quantile_upper(tail, n - 1.0);
    let untransformed = |x: f64| {
        let slope = skewness / root;
        match slope.abs() < 1e-9 {
            true => x,
            false => 3.0 * (libm::cbrt(1.0 + slope * (x - slope / 6.0)) - 1.0) / slope,
        }
    };
    (centred.mean - error * untransformed(t), centred.mean - error * untransformed(-t))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bootstrap::{BootstrapSettings, bootstrap_mean};

    fn interval(values: &[f64]) -> Interval {
        mean_interval(values, 0.95).unwrap().unwrap()
    }

    /// The formula in Python, with z = 1.959963984540054.
    #[test]
    fn a_share_as_the_formula() {
        let mut values = [1.0; 10];
        values[..3].fill(0.0);
        let interval = |values: &[f64]| share_interval(values, 0.95).unwrap().unwrap();
        let Interval { low, high, method } = interval(&values);
        assert_eq!(method, ClosedForm::Wilson);
        assert!((low - 0.396_778_147_461_145_37).abs() < 1e-14, "{low}");
        assert!((high - 0.892_208_732_593_698_9).abs() < 1e-14, "{high}");
        let all = interval(&[1.0; 20]);
        assert!(all.high == 1.0 && (0.8..0.9).contains(&all.low), "{all:?}");
        assert_eq!(interval(&[0.0; 20]).low, 0.0);
        assert_eq!(share_interval(&[0.0, 0.5], 0.95).unwrap(), None);
    }

    /// reference/stats/interval.py, numpy and scipy.
    #[test]
    fn a_mean_as_the_formula() {
        let values = [0.1, 0.4, 0.2, 2.3, 0.35, 0.9, 0.05, 1.4];
        let Interval { low, high, method } = interval(&values);
        assert_eq!(method, ClosedForm::Hall);
        assert!((low - LOW).abs() < 1e-13 && (high - HIGH).abs() < 1e-13, "{low} {high}");
    }

    #[test]
    fn few_and_equal_values() {
        assert_eq!(mean_interval(&[0.3], 0.95).unwrap(), None);
        let equal = interval(&[0.3; 9]);
        assert_eq!((equal.low, equal.high), (0.3, 0.3));
        assert!(
            mean_interval(&[], 0.95).is_err() && mean_interval(&[1.0, f64::NAN], 0.95).is_err()
        );
        assert!(mean_interval(&[0.1, 0.2], 1.0).is_err());
    }

    /// With many values it is what resampling gives, within the error of its replicates.
    #[test]
    fn with_many_values_as_resampling() {
        let values: Vec<f64> =
            (0..4000).map(|at| ((at as f64 + 0.5) / 4000.0).ln().powi(2)).collect();
        let closed = interval(&values);
        let settings = BootstrapSettings { replicates: 4000, ..Default::default() };
        let drawn = bootstrap_mean(&values, &settings).unwrap();
        let (low, high) = (drawn.low.unwrap(), drawn.high.unwrap());
        // The error of a 2.5 % quantile of 4,000 replicates: √(0.025 · 0.975 / 4000) / φ(1.96) standard errors.
        let slack = 4.0 * 0.0422 * drawn.standard_error.unwrap();
        assert!((closed.low - low).abs() < slack && (closed.high - high).abs() < slack);
    }

    proptest! {
        #[test]
        fn it_holds_the_mean(values in prop::collection::vec(-1e3..1e3f64, 3..40)) {
            let Interval { low, high, .. } = interval(&values);
            prop_assert!(low <= high, "{} {}", low, high);
            let moved: Vec<f64> = values.iter().map(|v| -v).collect();
            let mirrored = interval(&moved);
            prop_assert!((mirrored.low + high).abs() < 1e-6 && (mirrored.high + low).abs() < 1e-6);
        }
    }

    const LOW: f64 = 0.20581087190162628;
    const HIGH: f64 = 2.1531529903417446;
}
