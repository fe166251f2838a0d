//! Predictions of any model evaluated against votes: metrics with intervals, models compared with each
//! other, and what the votes allow. Nothing here trains, reads a file or makes a report.
//!
//! ```
//! use dissensus_evaluate::core::{ClassOrder, ClassSet, Counts, Ids, VoteTable};
//! use dissensus_evaluate::predictions::Predictions;
//! use dissensus_evaluate::{ScoreOptions, score};
//!
//! let mut counts = Counts::new();
//! for row in [[3u32, 1], [0, 4]] {
//!     counts.push((0u16..).zip(row))?;
//! }
//! let ids = ["a", "b"].map(str::to_owned).to_vec();
//! let classes = ["cat", "dog"].map(str::to_owned).to_vec();
//! let set = ClassSet::new(classes.clone(), ClassOrder::Declared)?;
//! let votes = VoteTable::from_counts(set, Ids::new(ids.clone())?, counts)?;
//! let values = vec![0.7, 0.3, 0.1, 0.9];
//! let model =
//!     Predictions::from_rows("model", values, 2, Some(ids), Some(classes), &Default::default())?;
//! let scores = score(&votes, &model, &ScoreOptions::default())?;
//! assert_eq!(scores.metric("accuracy").and_then(|score| score.value), Some(1.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_docs)]

mod ceiling;
mod compare;
mod evaluate;
mod score;

/// The crates that this one is made of.
#[rustfmt::skip]
pub use {
    dissensus_core as core, dissensus_labels as labels, dissensus_measure as measure,
    dissensus_predictions as predictions, dissensus_stats as stats,
};

pub use ceiling::ceiling;
pub use compare::{
    Difference, ItemComparison, SeedComparison, SeedTest, compare_items, compare_seeds,
};
pub use evaluate::{
    DEFAULT_METRICS, Evaluated, ItemOverlap, LabelProblem, ModelReading, ScoreError, ScoreOptions,
    check_pair, evaluate, evaluate_common, metrics, same_items,
};
pub use score::{MetricScore, Scores, Slice, score, score_models};
