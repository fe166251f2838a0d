//! Predictions with settings, and what several metrics share: computed when first asked for, once.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::classwise::ClassTotals;
use crate::smooth::{self, Smooth};
use crate::temper::{self, Tempered, TemperedValues};
use crate::{Judged, MeasureError, order, sums};

/// What can be chosen about the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// How many bins calibration errors, the Brier decomposition and reliability curves use.
    pub bins: usize,
    /// The smallest probability that soft NLL and KL see: q is raised to it where it is below.
    /// Without it, q = 0 where somebody voted makes both infinite.
    pub clip: Option<f64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { bins: 15, clip: None }
    }
}

impl Settings {
    /// The most bins that may be asked for.
    pub const MOST_BINS: usize = 1000;

    fn check(&self) -> Result<(), MeasureError> {
        if !(1..=Self::MOST_BINS).contains(&self.bins) {
            let (value, expected) = (self.bins.to_string(), "a whole number from 1 to 1000");
            return Err(MeasureError::Setting { name: "bins", value, expected });
        }
        match self.clip {
            Some(clip) if !(clip > 0.0 && clip < 1.0) => {
                let (value, expected) = (clip.to_string(), "a number above 0 and below 1");
                Err(MeasureError::Setting { name: "clip", value, expected })
            }
            _ => Ok(()),
        }
    }
}

/// What a prediction's confidence is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Against {
    /// 1 where the predicted class is the majority label, else 0.
    Majority,
    /// The share of the votes for the predicted class.
    Human,
}

/// What came out: a number, or why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Value {
    /// The number; infinite where the formula says so, `None` where it says nothing.
    pub value: Option<f64>,
    /// Why there is no number, or what must be said beside it.
    pub note: Option<Note>,
}

/// What must be said beside a number, or instead of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Note {
    /// There are no items.
    NoItems,
    /// No labels were given to measure against.
    NoGivenLabels,
    /// A correlation where something does not vary (for one item, nothing does).
    NoVariation,
    /// Items to which the model gave probability 0 where somebody voted.
    Infinite {
        items: usize,
        /// The row of the first.
        first: usize,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoItems => f.write_str("undefined: there are no items"),
            Self::NoGivenLabels => f.write_str("undefined: no labels were given"),
            Self::NoVariation => f.write_str("undefined: the entropies do not vary"),
            Self::Infinite { items, first } => write!(
                f,
                "infinite: probability 0 for a class that got votes on {items} item(s), first at \
                 row {first}; a clip makes it finite"
            ),
        }
    }
}

/// The number with four decimals; where there is none, why.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.value, self.note) {
            (Some(value), _) => write!(f, "{value:.4}"),
            (None, Some(note)) => note.fmt(f),
            (None, None) => f.write_str("undefined"),
        }
    }
}

impl Value {
    /// This number, or this reason where there is none.
    pub(crate) fn or(value: Option<f64>, reason: Note) -> Self {
        Self { value, note: value.is_none().then_some(reason) }
    }

    /// The mean of a column; infinite values are said.
    pub(crate) fn mean(column: &[f64]) -> Self {
        let value = sums::mean(column);
        let mut result = Self::or(value, Note::NoItems);
        if value.is_some_and(f64::is_infinite) {
            let infinite = || column.iter().enumerate().filter(|(_, v)| v.is_infinite());
            let first = infinite().next().map_or(0, |(at, _)| at);
            result.note = Some(Note::Infinite { items: infinite().count(), first });
        }
        result
    }
}

/// Judged predictions under checked settings. What metrics share (the order of the confidences,
/// the totals of the classes, smooth calibration errors, the best temperature) is kept once
/// computed; for that reason one scorer belongs to one thread, while its work runs on all.
pub struct Scorer<'a> {
    pub(crate) judged: &'a Judged,
    pub(crate) settings: Settings,
    order: OnceCell<Vec<usize>>,
    totals: OnceCell<ClassTotals>,
    smooth: [OnceCell<Option<Smooth>>; 2],
    tempered: OnceCell<Option<Tempered>>,
}

impl<'a> Scorer<'a> {
    /// Checks the settings.
    pub fn new(judged: &'a Judged, settings: Settings) -> Result<Self, MeasureError> {
        settings.check()?;
        let smooth = [OnceCell::new(), OnceCell::new()];
        let (order, totals, tempered) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Ok(Self { judged, settings, order, totals, smooth, tempered })
    }

    /// The predictions.
    pub fn judged(&self) -> &'a Judged {
        self.judged
    }

    /// What the confidences are held against, item by item.
    pub(crate) fn outcome(&self, against: Against) -> &'a [f64] {
        match against {
            Against::Majority => &self.judged.correct,
            Against::Human => &self.judged.human,
        }
    }

    /// Positions by ascending confidence.
    pub(crate) fn order(&self) -> &[usize] {
        self.order.get_or_init(|| order::ascending(&self.judged.confidence))
    }

    pub(crate) fn totals(&self) -> &ClassTotals {
        self.totals.get_or_init(|| ClassTotals::new(self.judged, self.settings.bins))
    }

    /// Smooth calibration error and its bandwidth; `None` without items.
    pub fn smooth(&self, against: Against) -> Option<Smooth> {
        let cell = &self.smooth[usize::from(against == Against::Human)];
        *cell.get_or_init(|| smooth::error(&self.judged.confidence, self.outcome(against)))
    }

    /// Soft NLL of each item, under the clip.
    pub(crate) fn nll(&self) -> Cow<'_, [f64]> {
        self.clipped(&self.judged.nll, |p, q| -p * q.ln())
    }

    /// The predictions at their best temperature; `None` without items, and where soft NLL is
    /// infinite.
    pub fn tempered(&self) -> Option<Tempered> {
        let (rows, classes) = (self.judged.predictions(), self.judged.truth().classes());
        let floor = self.settings.clip.unwrap_or(0.0);
        *self.tempered.get_or_init(|| temper::best(rows, classes, floor, &self.nll()))
    }

    /// What intervals of the best temperature and of soft NLL at it are made of.
    pub(crate) fn tempered_values(&self) -> Option<TemperedValues> {
        let (rows, classes) = (self.judged.predictions(), self.judged.truth().classes());
        let floor = self.settings.clip.unwrap_or(0.0);
        temper::values(rows, classes, floor, &self.nll(), self.tempered()?.temperature)
    }

    /// The mean soft NLL at a temperature that was fitted elsewhere, above 0; `None` without items, and
    /// where soft NLL is infinite.
    pub fn soft_nll_at(&self, temperature: f64) -> Option<f64> {
        let (rows, classes) = (self.judged.predictions(), self.judged.truth().classes());
        let floor = self.settings.clip.unwrap_or(0.0);
        temper::nll_at(rows, classes, floor, &self.nll(), temperature)
    }

    /// Soft NLL or KL of each item under the clip, from the column without it.
    pub(crate) fn clipped<'s>(
        &'s self,
        column: &'s [f64],
        term: impl Fn(f64, f64) -> f64 + Sync,
    ) -> Cow<'s, [f64]> {
        use rayon::prelude::*;
        let Some(clip) = self.settings.clip else { return Cow::Borrowed(column) };
        let truth = self.judged.truth();
        let mut values = Vec::new();
        let rows = self.judged.predictions().par_chunks_exact(truth.classes());
        rows.zip(truth.targets().par_chunks_exact(truth.classes()))
            .map(|(q, p)| {
                let voted = p.iter().zip(q).filter(|(p, _)| **p > 0.0);
                voted.map(|(&p, &q)| term(p, q.max(clip))).sum::<f64>()
            })
            .collect_into_vec(&mut values);
        Cow::Owned(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn settings_are_checked() {
        let judged = testing::judged();
        for bins in [0, 1001] {
            let error = Scorer::new(&judged, Settings { bins, clip: None }).err();
            assert!(matches!(error, Some(MeasureError::Setting { name: "bins", .. })));
        }
        for clip in [0.0, 1.0, -0.5, f64::NAN] {
            let error = Scorer::new(&judged, Settings { clip: Some(clip), bins: 3 }).err();
            assert!(matches!(error, Some(MeasureError::Setting { name: "clip", .. })));
        }
        let unknown = serde_json::from_str::<Settings>(r#"{"bin": 3}"#);
        assert!(unknown.is_err());
        let known: Settings = serde_json::from_str(r#"{"bins": 3}"#).unwrap();
        assert_eq!(known, Settings { bins: 3, clip: None });
    }
}
