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
    ece_width::MAJORITY,
    ece_width::HUMAN,
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
}

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
        self.about.explain() + &entry("per item", per_item)
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
