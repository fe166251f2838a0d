//! Results of a study as one tidy table: one row for each run, metric and slice of the items.

use serde::{Deserialize, Serialize};

/// One number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The study.
    pub study: String,
    /// The data set.
    pub dataset: String,
    /// The arm.
    pub arm: String,
    /// Votes per item in training; `None` for all.
    pub k: Option<u32>,
    /// The seed.
    pub seed: u64,
    /// The metric.
    pub metric: String,
    /// Which items: `all`, or the name of a slice.
    pub slice: String,
    /// The number; `None` where it is undefined.
    pub value: Option<f64>,
    /// The run that it comes from.
    pub run: String,
}
