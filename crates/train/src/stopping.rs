//! Which epoch is kept, and when training stops. Both look at one metric, once an epoch.
//!
//! * [`Selection`] keeps the best epoch: the first with the best value. Only a strictly better
//!   value replaces it.
//! * [`Stopping`] counts the epochs in a row that did not improve by at least `minimum`, and stops
//!   at `patience` of them. What has to be improved on is the last value that counted, so that
//!   many small steps count once they add up.
//!
//! A value that is undefined or not finite never improves, and counts as an epoch without
//! improvement. Both are plain values that serialize with all they know: written into a
//! checkpoint and read back, they go on as if nothing had happened.

use dissensus_core::Direction;
use serde::{Deserialize, Serialize};

use crate::spec::selectable;
use crate::{ConfigError, Place};

/// An epoch and its value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Best {
    /// The epoch, from 0.
    pub epoch: u64,
    /// The value of the metric after it.
    pub value: f64,
}

/// The best epoch so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    metric: String,
    better: Direction,
    best: Option<Best>,
}

impl Selection {
    /// A selection by a metric that has a direction; no epoch is seen yet.
    pub fn new(metric: &str) -> Result<Self, ConfigError> {
        let better = selectable(metric, "selection.metric", &Place::Call)?;
        Ok(Self { metric: metric.to_owned(), better, best: None })
    }

    /// Which way the metric is better.
    pub fn better(&self) -> Direction {
        self.better
    }

    /// The best epoch so far; `None` before one has a value.
    pub fn best(&self) -> Option<Best> {
        self.best
    }

    /// Adds an epoch, and returns whether it is the best so far.
    pub fn update(&mut self, epoch: u64, value: Option<f64>) -> bool {
        let Some(value) = value.filter(|value| value.is_finite()) else { return false };
        let best = self.best.is_none_or(|best| self.better.is_better(value, best.value));
        if best {
            self.best = Some(Best { epoch, value });
        }
        best
    }
}

/// When to stop early.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// How many epochs in a row may pass without improvement; at least 1.
    pub patience: u64,
    /// The least that counts as an improvement, in the unit of the metric.
    pub minimum: f64,
}

/// The epochs without improvement so far.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stopping {
    stop: Stop,
    better: Direction,
    counted: Option<f64>,
    waited: u64,
}

impl Stopping {
    /// Early stopping on a metric with this direction; no epoch is seen yet.
    pub fn new(stop: Stop, better: Direction) -> Self {
        Self { stop, better, counted: None, waited: 0 }
    }

    /// How many epochs in a row have not improved.
    pub fn waited(&self) -> u64 {
        self.waited
    }

    /// Adds the next epoch, and returns whether to stop after it.
    pub fn update(&mut self, value: Option<f64>) -> bool {
        let improves = |value: f64| {
            self.counted.is_none_or(|counted| {
                let gain = self.better.gain(counted, value);
                gain.is_some_and(|gain| gain > 0.0 && gain >= self.stop.minimum)
            })
        };
        match value.filter(|value| value.is_finite() && improves(*value)) {
            Some(value) => (self.counted, self.waited) = (Some(value), 0),
            None => self.waited += 1,
        }
        self.waited >= self.stop.patience
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stops(stop: Stop, better: Direction, values: &[Option<f64>]) -> Option<usize> {
        let mut stopping = Stopping::new(stop, better);
        values.iter().position(|&value| stopping.update(value))
    }

    #[test]
    fn the_first_of_the_best_epochs_is_kept() {
        let mut selection = Selection::new("soft_nll").unwrap();
        assert_eq!((selection.best(), selection.better()), (None, Direction::Lower));
        let values = [2.0, 1.5, 1.5, 1.6, 1.2, 1.2];
        let best = values.into_iter().zip(0..).map(|(v, e)| selection.update(e, Some(v)));
        assert_eq!(best.collect::<Vec<_>>(), [true, true, false, false, true, false]);
        assert_eq!(selection.best(), Some(Best { epoch: 4, value: 1.2 }));

        let mut selection = Selection::new("accuracy").unwrap();
        assert!(selection.update(0, Some(0.5)) && !selection.update(1, Some(0.4)));
        assert!(selection.update(2, Some(0.6)) && selection.best().unwrap().epoch == 2);
    }

    #[test]
    fn what_is_no_number_never_improves() {
        for metric in ["soft_nll", "accuracy"] {
            let mut selection = Selection::new(metric).unwrap();
            for value in [None, Some(f64::NAN), Some(f64::INFINITY), Some(f64::NEG_INFINITY)] {
                assert!(!selection.update(0, value));
            }
            assert_eq!(selection.best(), None);
            assert!(selection.update(5, Some(0.5)) && !selection.update(6, Some(f64::NAN)));
            assert_eq!(selection.best(), Some(Best { epoch: 5, value: 0.5 }));
        }
        let stop = Stop { patience: 2, minimum: 0.0 };
        assert_eq!(stops(stop, Direction::Lower, &[None, Some(f64::NEG_INFINITY)]), Some(1));
        assert_eq!(stops(stop, Direction::Lower, &[None, Some(1.0), None, Some(0.9)]), None);
    }

    #[test]
    fn a_metric_without_a_direction_selects_nothing() {
        let error = Selection::new("brier_uncertainty").unwrap_err().to_string();
        assert!(error.contains("neither way is better"), "{error}");
        let error = Selection::new("soft_nl").unwrap_err().to_string();
        assert!(error.contains("did you mean `soft_nll`?"), "{error}");
    }

    #[test]
    fn patience_counts_epochs_in_a_row_without_improvement() {
        let some = |values: &[f64]| values.iter().copied().map(Some).collect::<Vec<_>>();
        let stop = Stop { patience: 3, minimum: 0.0 };
        let values = some(&[1.0, 1.0, 1.1, 0.9, 0.95, 0.9, 0.9, 0.1]);
        assert_eq!(stops(stop, Direction::Lower, &values), Some(6));
        assert_eq!(stops(stop, Direction::Higher, &values), Some(5));
        assert_eq!(stops(Stop { patience: 1, ..stop }, Direction::Lower, &values), Some(1));
        assert_eq!(stops(Stop { patience: 4, ..stop }, Direction::Lower, &values), None);
    }

    /// Eighths are exact in binary, so that "at least" can be told from "more than".
    #[test]
    fn improvements_below_the_minimum_count_once_they_add_up() {
        let some = |values: &[f64]| values.iter().copied().map(Some).collect::<Vec<_>>();
        let stop = Stop { patience: 3, minimum: 0.25 };
        let once = Stop { patience: 1, ..stop };
        assert_eq!(stops(once, Direction::Lower, &some(&[2.0, 1.75, 1.5, 1.25, 1.0])), None);
        let slow = some(&[2.0, 1.875, 1.75, 1.625, 1.5, 1.375, 1.25]);
        assert_eq!(stops(stop, Direction::Lower, &slow), None);
        assert_eq!(stops(Stop { minimum: 0.5, ..stop }, Direction::Lower, &slow), Some(3));
    }

    #[test]
    fn both_resume_exactly_from_text() {
        let stop = Stop { patience: 3, minimum: 0.01 };
        let values = [0.3, f64::NAN, 0.1 + 0.2, 0.28, 0.279, 0.1, 0.2, 0.0999, 0.0995];
        let mut whole = (Selection::new("kl").unwrap(), Stopping::new(stop, Direction::Lower));
        let mut resumed = whole.clone();
        for (epoch, value) in (0..).zip(values) {
            let text = serde_json::to_string(&resumed).unwrap();
            resumed = serde_json::from_str(&text).unwrap();
            let expected = (whole.0.update(epoch, Some(value)), whole.1.update(Some(value)));
            assert_eq!(
                (resumed.0.update(epoch, Some(value)), resumed.1.update(Some(value))),
                expected
            );
            assert_eq!(resumed, whole);
        }
        assert!(whole.1.waited() == 3 && whole.0.best().unwrap().epoch == 8);
    }
}
