//! Train and judge classifiers on how people actually voted.

pub use dissensus_core as core;

mod compare;
mod evaluate;
mod score;

pub use compare::{
    Difference, ItemComparison, SeedComparison, SeedTest, compare_items, compare_seeds,
};
pub use evaluate::{
    DEFAULT_METRICS, Evaluated, LabelProblem, ScoreError, ScoreOptions, evaluate, evaluate_common,
    metrics,
};
pub use score::{MetricScore, Scores, score};
