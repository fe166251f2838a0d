//! Predictions beside votes: scores, comparisons, reliability. The functions that people call are in
//! `package/dissensus/_judging.py`.

mod compare;
mod models;
mod reliability;
mod scores;

pub(crate) use compare::{Comparison, SeedComparison, judge_compare, judge_compare_seeds};
pub(crate) use reliability::{Reliability, judge_reliability};
pub(crate) use scores::{Ceiling, Scores, judge_ceiling, judge_score};
