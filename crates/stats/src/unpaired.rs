//! A test on two samples that are not paired, known by their means and standard deviations alone,
//! as papers give them.

use serde::{Deserialize, Serialize};

use crate::special::t_sf;
use crate::{Alternative, StatsError, Undefined, check};

/// A sample as a paper gives it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// How many values.
    pub n: usize,
    pub mean: f64,
    /// Their sample standard deviation (n − 1).
    pub sd: f64,
}

/// What the test found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WelchResult {
    /// The side, of the left mean less the right one.
    pub alternative: Alternative,
    /// The left mean less the right one.
    pub difference: f64,
    /// Its standard error.
    pub error: f64,
    /// The t statistic.
    pub t: Option<f64>,
    /// Its degrees of freedom, seldom a whole number.
    pub df: Option<f64>,
    pub p: Option<f64>,
    /// Why there is no p.
    pub undefined: Option<Undefined>,
}

/// Tests whether two samples have the same mean, without the assumption that they spread alike:
/// t = (x̄ − ȳ) / √(s²/n + r²/m), with the degrees of freedom of Welch, *The generalization of
/// "Student's" problem when several different population variances are involved* (1947).
pub fn welch(
    left: Sample,
    right: Sample,
    alternative: Alternative,
) -> Result<WelchResult, StatsError> {
    check::finite("mean", &[left.mean, right.mean])?;
    check::finite("sd", &[left.sd, right.sd])?;
    if let Some(sd) = [left.sd, right.sd].into_iter().find(|sd| *sd < 0.0) {
        let expected = "a number, at least 0";
        return Err(StatsError::Setting { name: "sd", value: sd.to_string(), expected });
    }
    let difference = left.mean - right.mean;
    // The errors of both means; their squares might leave the range.
    let of = |sample: Sample| sample.sd / (sample.n.max(1) as f64).sqrt();
    let (a, b) = (of(left), of(right));
    let error = a.hypot(b);
    if !difference.is_finite() || !error.is_finite() {
        return Err(StatsError::Overflow { what: "left - right" });
    }
    let (t, df, p, undefined) = (None, None, None, None);
    let mut result = WelchResult { alternative, difference, error, t, df, p, undefined };
    let n = left.n.min(right.n);
    if n < 2 {
        result.undefined = Some(Undefined::TooFew { n, needed: 2 });
        return Ok(result);
    }
    let t = difference / error;
    if error == 0.0 || !t.is_finite() {
        result.undefined = Some(Undefined::NoVariation);
        return Ok(result);
    }
    let (a, b) = ((a / error).powi(4), (b / error).powi(4));
    let df = 1.0 / (a / (left.n - 1) as f64 + b / (right.n - 1) as f64);
    result.p = Some(alternative.p(t_sf(-t, df), t_sf(t, df)));
    (result.t, result.df) = (Some(t), Some(df));
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(n: usize, mean: f64, sd: f64) -> Sample {
        Sample { n, mean, sd }
    }

    #[test]
    fn undefined_or_refused() {
        let run = |left, right| welch(left, right, Alternative::TwoSided);
        let one = run(sample(1, 0.0, 0.0), sample(5, 1.0, 1.0)).unwrap();
        assert_eq!((one.p, one.undefined), (None, Some(Undefined::TooFew { n: 1, needed: 2 })));
        let none = run(sample(0, 0.0, 1.0), sample(5, 1.0, 1.0)).unwrap();
        assert_eq!(none.undefined, Some(Undefined::TooFew { n: 0, needed: 2 }));
        let flat = run(sample(5, 0.0, 0.0), sample(5, 1.0, 0.0)).unwrap();
        assert_eq!((flat.p, flat.undefined), (None, Some(Undefined::NoVariation)));
        assert!(run(sample(5, 0.0, -1.0), sample(5, 1.0, 1.0)).is_err());
        assert!(run(sample(5, f64::NAN, 1.0), sample(5, 1.0, 1.0)).is_err());
        assert!(run(sample(5, f64::MAX, 1.0), sample(5, f64::MIN, 1.0)).is_err());
    }

    #[test]
    fn one_spread_alone_has_its_own_degrees_of_freedom() {
        let found = welch(sample(7, 1.0, 2.0), sample(4, 0.0, 0.0), Alternative::Greater).unwrap();
        assert_eq!(found.df, Some(6.0));
    }
}
