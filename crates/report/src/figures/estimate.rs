//! A mean with its interval.

use dissensus_stats::effect::mean_difference;

use super::scale::fixed;
use crate::csv::number;

/// How estimates over seeds are made.
pub(super) const NOTE: &str = "Means with 95 % t intervals over seeds";

/// A mean, and its 95 % t interval where there are two values or more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub mean: f64,
    /// The interval's lower end.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
    /// How many values.
    pub n: usize,
}

impl Estimate {
    /// Of these values, without those that are not finite; `None` where none are left.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.into_iter().filter(|v| v.is_finite()).collect();
        let found = mean_difference(&values, 0.95).ok()?;
        Some(Self { mean: found.mean, low: found.low, high: found.high, n: found.n })
    }

    /// Both ends and the mean, as an axis must show them.
    pub(super) fn reach(&self) -> impl Iterator<Item = f64> + use<> {
        [Some(self.mean), self.low, self.high].into_iter().flatten()
    }

    /// Both ends of the interval, where there is one.
    pub(super) fn interval(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }

    /// For a row of CSV: mean, low, high, n.
    pub(super) fn fields(&self) -> [String; 4] {
        [number(self.mean), number(self.low), number(self.high), self.n.to_string()]
    }

    /// In words: `0.5027 ± 0.0126 (5 seeds)`.
    pub(super) fn words(&self, digits: usize, unit: &str) -> String {
        let plural = if self.n == 1 { "" } else { "s" };
        let half = self.high.map(|high| format!(" ± {}", fixed(high - self.mean, digits)));
        let mean = fixed(self.mean, digits);
        format!("{mean}{} ({} {unit}{plural})", half.unwrap_or_default(), self.n)
    }
}

/// The mean of values; the value itself where all are the same, so that no rounding parts ties.
pub(super) fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut n, mut first, mut same) = (0.0, 0usize, None, true);
    for value in values.into_iter().filter(|v| v.is_finite()) {
        same &= *first.get_or_insert(value) == value;
        sum += value;
        n += 1;
    }
    let mean = sum / n as f64;
    first.map(|first| if same { first } else { mean }).filter(|m| m.is_finite())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    /// scipy 1.17.1: `scipy.stats.ttest_1samp([0.5, 0.52, 0.48], 0).confidence_interval()`
    #[test]
    fn the_interval_is_student_s() {
        let found = Estimate::of([0.5, f64::NAN, 0.52, 0.48]).unwrap();
        assert_eq!(found.n, 3);
        assert!((found.mean - 0.5).abs() < 1e-12);
        assert!((found.low.unwrap() - 0.450_317_246).abs() < 1e-8);
        assert!((found.high.unwrap() - 0.549_682_754).abs() < 1e-8);
        assert_eq!(found.words(4, "seed"), "0.5000 ± 0.0497 (3 seeds)");
    }

    #[test]
    fn what_is_undefined_is_none() {
        assert_eq!(Estimate::of([f64::NAN]), None);
        let one = Estimate::of([2.0]);
        assert_eq!(one, Some(Estimate { mean: 2.0, low: None, high: None, n: 1 }));
        assert_eq!(one.unwrap().words(1, "seed"), "2.0 (1 seed)");
        assert_eq!(mean([0.1, 0.1, 0.1]), Some(0.1));
        assert_eq!(mean([]), None);
    }
}
