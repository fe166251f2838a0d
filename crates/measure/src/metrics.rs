//! The metrics: how well predictions match what people said. One file per metric, one list.
//!
//! To add one, write its file and add its line to [`METRICS`]; the command line, the docs and the
//! tables take names, formulas and directions from there. A metric is computed over all
//! predictions at once and is never an average over batches.

mod accuracy;
mod accuracy_given;
mod brier_parts;
mod classwise_ece;
mod ece_mass;
mod ece_width;
mod entropy_correlation;
mod entropy_error;
mod hard_nll;
mod js_distance;
mod kl;
mod smooth_ece;
mod soft_brier;
mod soft_nll;
mod temperature;
mod total_variation;

use std::borrow::Cow;

use dissensus_core::{Scale, ScaleError};
use serde::Serialize;

use crate::about::entry;
use crate::{About, Judged, MeasureError, Note, Scorer, Settings, Value};

/// Every metric, in the order of the tables.
pub const METRICS: &[Metric] = &[
    soft_nll::METRIC,
    kl::METRIC,
    soft_brier::METRIC,
    js_distance::METRIC,
    total_variation::METRIC,
    hard_nll::METRIC,
    accuracy::METRIC,
    accuracy_given::METRIC,
    ece_mass::MAJORITY,
    ece_mass::HUMAN,
    ece_mass::MAJORITY_DEBIASED,
    ece_mass::HUMAN_DEBIASED,
    ece_width::MAJORITY,
    ece_width::HUMAN,
    ece_width::MAJORITY_DEBIASED,
    ece_width::HUMAN_DEBIASED,
    smooth_ece::MAJORITY,
    smooth_ece::HUMAN,
    classwise_ece::MAJORITY,
    classwise_ece::HUMAN,
    temperature::TEMPERATURE,
    temperature::NLL,
    entropy_correlation::SPEARMAN,
    entropy_correlation::PEARSON,
    entropy_error::METRIC,
    brier_parts::RELIABILITY,
    brier_parts::RESOLUTION,
    brier_parts::UNCERTAINTY,
    brier_parts::WITHIN,
];

/// The values of a metric on single items; `None` where something it needs is missing.
pub type PerItem = for<'s> fn(&'s Scorer<'_>) -> Option<Cow<'s, [f64]>>;

/// A metric: what it says about itself, and how it is computed.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// In words.
    pub about: About,
    /// The scales of votes for which it is defined.
    pub scales: &'static [Scale],
    /// Over all items.
    pub compute: fn(&Scorer<'_>) -> Value,
    /// On each item, where the metric is the mean of that; `None` where it is not.
    pub per_item: Option<PerItem>,
    /// What an interval over items is made of.
    pub interval: Interval,
}

/// What an interval over items is made of.
#[derive(Clone, Copy, Debug)]
pub enum Interval {
    /// The metric is a mean of items.
    Mean,
    /// Near the estimate the metric moves as a mean does: the estimate plus its influence function at each item (F. R.
    /// Hampel, *The influence curve and its role in robust estimation*, 1974).
    Linear {
        /// The values, whose mean is the metric; `None` where the metric has no such values.
        values: PerItem,
        /// The scale on which the metric is nearer to a mean than on its own.
        scale: Transform,
    },
    /// No interval is known to hold; why.
    Unknown(&'static str),
}

/// A scale on which a metric's error is more symmetrical.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transform {
    /// The metric's own.
    Identity,
    /// The logarithm, of what is above 0.
    Logarithm,
    /// Fisher's z, of a correlation: atanh.
    Fisher,
}

impl Transform {
    /// Values whose mean is the metric, as values whose mean is the metric on this scale.
    pub fn apply(self, metric: f64, values: &[f64]) -> Vec<f64> {
        let (there, slope) = match self {
            Self::Identity => (metric, 1.0),
            Self::Logarithm => (metric.ln(), 1.0 / metric),
            Self::Fisher => (metric.atanh(), 1.0 / (1.0 - metric * metric)),
        };
        values.iter().map(|value| there + slope * (value - metric)).collect()
    }

    /// A number of this scale, as a number of the metric's own.
    pub fn back(self, value: f64) -> f64 {
        match self {
            Self::Identity => value,
            Self::Logarithm => value.exp(),
            Self::Fisher => value.tanh(),
        }
    }
}

/// Why a metric made of the gaps of bins has no interval.
const BIASED: &str = "gaps that are chance alone count, too, so that the estimate is too high by an amount that depends on \
                      gaps that nobody knows; no interval is known to hold";

impl Metric {
    /// Passes where the metric is defined for votes on this scale.
    pub fn require(&self, scale: Scale) -> Result<(), ScaleError> {
        scale.require(self.about.name, self.scales)
    }

    /// All there is to say, as lines to print.
    pub fn explain(&self) -> String {
        let per_item = match self.per_item {
            Some(_) => "yes: the metric is their mean",
            None => "no: defined for a set of items",
        };
        let interval = match self.interval {
            Interval::Mean | Interval::Linear { .. } => "yes",
            Interval::Unknown(why) => &format!("none: {why}"),
        };
        self.about.explain() + &entry("per item", per_item) + &entry("interval", interval)
    }
}

/// The metric of this name.
pub fn metric(name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.about.name == name)
}

/// The metrics whose names are nearest to one that there is none of, nearest first.
pub fn nearest_metrics(name: &str) -> Vec<String> {
    let names = METRICS.iter().map(|metric| metric.about.name);
    dissensus_core::nearest_names(name, names).into_iter().map(str::to_owned).collect()
}

/// A metric's name and what came out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Score {
    pub metric: &'static str,
    /// The number, or why there is none.
    #[serde(flatten)]
    pub value: Value,
}

/// Every metric of the list.
pub fn score_all(judged: &Judged, settings: Settings) -> Result<Vec<Score>, MeasureError> {
    let scorer = Scorer::new(judged, settings)?;
    let score =
        |metric: &Metric| Score { metric: metric.about.name, value: (metric.compute)(&scorer) };
    Ok(METRICS.iter().map(score).collect())
}

/// The mean of what a metric gives on single items.
fn mean(column: Option<Cow<'_, [f64]>>, missing: Note) -> Value {
    column.map_or(Value::or(None, missing), |column| Value::mean(&column))
}

#[cfg(test)]
mod tests;
