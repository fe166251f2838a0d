//! How large a paired difference is, beside whether it is there.
//!
//! * Cohen's d_z = d̄ / s, the mean difference in standard deviations of the differences. J. Cohen,
//!   *Statistical Power Analysis* (1988), §2.3.5.
//! * Matched-pairs rank-biserial correlation r = (W⁺ − W⁻) / (W⁺ + W⁻), from −1 (all differences
//!   negative) to 1. D. S. Kerby, *The simple difference formula* (2014).
//! * Mean difference d̄ ± t s/√n, with t the quantile of Student's distribution.

use serde::{Deserialize, Serialize};

use crate::describe::{Moments, moments};
use crate::paired::{SignedRanks, ZeroMethod};
use crate::special::t_quantile_upper;
use crate::{StatsError, Undefined, check};

/// Cohen's d_z.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CohenDz {
    /// Pairs given.
    pub n: usize,
    /// The effect size.
    pub dz: Option<f64>,
    /// Why there is none.
    pub undefined: Option<Undefined>,
}

/// The mean difference in standard deviations of the differences.
pub fn cohen_dz(differences: &[f64]) -> Result<CohenDz, StatsError> {
    check::finite("differences", differences)?;
    let n = differences.len();
    let Moments { mean, sd, varies } = moments(differences);
    let (dz, undefined) = match sd {
        None => (None, Some(Undefined::TooFew { n, needed: 2 })),
        Some(_) if !varies => (None, Some(Undefined::NoVariation)),
        Some(sd) if !sd.is_finite() => {
            return Err(StatsError::Overflow { what: "standard deviation" });
        }
        Some(sd) => (Some(mean / sd), None),
    };
    Ok(CohenDz { n, dz, undefined })
}

/// The matched-pairs rank-biserial correlation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankBiserial {
    /// What became of zero differences.
    pub zeros: ZeroMethod,
    /// Pairs given.
    pub n: usize,
    /// Of these, without a difference.
    pub n_zero: usize,
    /// The effect size, from −1 to 1.
    pub r: Option<f64>,
    /// Why there is none.
    pub undefined: Option<Undefined>,
}

/// The share of the rank sum on the positive side less that on the negative side.
pub fn rank_biserial(differences: &[f64], zeros: ZeroMethod) -> Result<RankBiserial, StatsError> {
    check::finite("differences", differences)?;
    let ranks = SignedRanks::new(differences, zeros, None)?;
    let (plus, minus) = ranks.sums();
    let defined = !ranks.doubled.is_empty();
    Ok(RankBiserial {
        zeros,
        n: differences.len(),
        n_zero: ranks.n_zero,
        r: defined.then(|| (plus - minus) / (plus + minus)),
        undefined: (!defined).then_some(Undefined::NoDifferences),
    })
}

/// A mean difference and its t interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeanDifference {
    /// Pairs given.
    pub n: usize,
    pub mean: f64,
    /// The sample standard deviation of the differences; `None` for one pair.
    pub sd: Option<f64>,
    /// The confidence level of the interval.
    pub confidence: f64,
    /// Its lower end.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
    /// Whether the interval is the mean itself because the differences do not vary.
    pub degenerate: bool,
    /// Why there is no interval.
    pub undefined: Option<Undefined>,
}

/// The mean difference with its t interval.
pub fn mean_difference(differences: &[f64], confidence: f64) -> Result<MeanDifference, StatsError> {
    check::finite("differences", differences)?;
    check::level("confidence", confidence)?;
    let n = differences.len();
    let Moments { mean, sd, varies } = moments(differences);
    let degenerate = n > 1 && !varies;
    let half = match sd {
        None => None,
        Some(_) if degenerate => Some(0.0),
        Some(sd) => {
            let t = t_quantile_upper((1.0 - confidence) / 2.0, (n - 1) as f64);
            Some(t * sd / (n as f64).sqrt())
        }
    };
    let (low, high) = (half.map(|half| mean - half), half.map(|half| mean + half));
    if [sd, low, high].into_iter().flatten().any(|end| !end.is_finite()) {
        return Err(StatsError::Overflow { what: "interval" });
    }
    let undefined = half.is_none().then_some(Undefined::TooFew { n, needed: 2 });
    Ok(MeanDifference { n, mean, sd, confidence, low, high, degenerate, undefined })
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: [f64; 6] = [0.3, -0.1, 0.7, 0.25, 0.0, 0.7];

    /// scipy 1.17.1:
    ///
    /// ```python
    /// x = np.array([0.3, -0.1, 0.7, 0.25, 0.0, 0.7])
    /// print(repr(x.mean() / x.std(ddof=1)))
    /// print(scipy.stats.ttest_1samp(x, 0).confidence_interval(0.9))
    /// for kind in ("wilcox", "pratt", "zsplit"):
    ///     plus = scipy.stats.wilcoxon(x, zero_method=kind, alternative="greater").statistic
    ///     minus = scipy.stats.wilcoxon(-x, zero_method=kind, alternative="greater").statistic
    ///     print(repr((plus - minus) / (plus + minus)))
    /// ```
    #[test]
    fn as_scipy() {
        let dz = cohen_dz(&X).unwrap().dz.unwrap();
        assert!((dz - DZ).abs() < 1e-14, "{dz}");
        let mean = mean_difference(&X, 0.9).unwrap();
        let (low, high) = (mean.low.unwrap(), mean.high.unwrap());
        assert!((low - LOW).abs() < 1e-14 && (high - HIGH).abs() < 1e-14, "{low} {high}");
        for (zeros, golden) in ZeroMethod::ALL.into_iter().zip(BISERIAL) {
            let r = rank_biserial(&X, zeros).unwrap().r.unwrap();
            assert!((r - golden).abs() < 1e-15, "{zeros:?} {r}");
        }
    }

    #[test]
    fn degenerate_differences() {
        assert_eq!(cohen_dz(&[2.0; 3]).unwrap().undefined, Some(Undefined::NoVariation));
        assert_eq!(cohen_dz(&[2.0]).unwrap().dz, None);
        let point = mean_difference(&[2.0; 3], 0.95).unwrap();
        assert_eq!((point.low, point.high, point.degenerate), (Some(2.0), Some(2.0), true));
        let one = mean_difference(&[2.0], 0.95).unwrap();
        assert_eq!((one.low, one.undefined.is_some()), (None, true));
        assert!(matches!(mean_difference(&X, 1.0), Err(StatsError::Setting { .. })));
        let overflow = mean_difference(&[f64::MAX, 0.0], 0.95);
        assert_eq!(overflow, Err(StatsError::Overflow { what: "interval" }));
        let nothing = rank_biserial(&[0.0; 3], ZeroMethod::Pratt).unwrap();
        assert_eq!((nothing.r, nothing.undefined), (None, Some(Undefined::NoDifferences)));
        assert_eq!(rank_biserial(&[-1.0, -3.0], ZeroMethod::Wilcox).unwrap().r, Some(-1.0));
    }

    const DZ: f64 = 0.9115402128276322;
    const LOW: f64 = 0.030070952480313606;
    const HIGH: f64 = 0.5865957141863527;
    const BISERIAL: [f64; 3] = [0.8666666666666667, 0.8, 0.7619047619047619];
}
