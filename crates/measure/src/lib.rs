//! The measures of dissensus: pure functions over predictions and what people said, in f64.
//!
//! * [`Truth`]: annotator distributions, their entropies and majority labels, checked.
//! * [`Judged`]: predictions (logits or probabilities) compared with them, item by item.
//! * [`metrics`]: the list of metrics; [`Scorer`] computes them and what they share.
//! * [`reliability`], [`smooth`], [`classwise`]: what is behind the metrics, as data.
//! * [`ceiling`]: what the votes allow, whatever the model.
//! * [`slices`]: items by how much people disagree on them.
//! * [`ood`]: out-of-distribution scores, and how well scores detect.
//!
//! Every measure carries its name, formula, unit, direction, settings and reference ([`About`]).
//! What cannot be measured is a [`MeasureError`] that names the row; what is undefined is `None`,
//! with a [`Note`] that says why. Results are the same bits for any number of threads. Nothing
//! here prints or panics.
//!
//! ```
//! use std::sync::Arc;
//! use dissensus_measure::{Judged, Matrix, ModelOutput, Settings, Targets, Truth, score_all};
//! let votes = [8.0, 2.0, 0.0, 1.0, 5.0, 4.0];
//! let logits = [2.0, 0.5, -1.0, 0.0, 0.3, 0.1];
//! let truth = Truth::new(Targets::Counts(Matrix::new(&votes[..], 3)?))?;
//! let judged = Judged::new(Arc::new(truth), ModelOutput::Logits(Matrix::new(&logits[..], 3)?))?;
//! let scores = score_all(&judged, Settings::default())?;
//! assert_eq!(scores[0].metric, "soft_nll");
//! assert!((scores[0].value.value.unwrap() - 0.7956).abs() < 1e-4);
//! # Ok::<(), dissensus_measure::MeasureError>(())
//! ```

mod about;
pub mod ceiling;
pub mod classwise;
mod compare;
mod entropy;
mod error;
pub mod intervals;
mod judged;
mod matrix;
pub mod metrics;
pub mod ood;
mod order;
mod rank;
pub mod reliability;
mod scorer;
pub mod slices;
pub mod smooth;
mod softmax;
mod sums;
mod temper;
#[cfg(test)]
mod testing;
mod truth;

pub use about::About;
pub use dissensus_core::Direction;
pub use error::MeasureError;
pub use judged::{Judged, ModelOutput};
pub use matrix::{Matrix, Numbers};
pub use metrics::{
    Interval, METRICS, Metric, PerItem, Score, Transform, metric, nearest_metrics, score_all,
};
pub use scorer::{Against, Note, Scorer, Settings, Value};
pub use temper::Tempered;
pub use truth::{TIE_KEY, Targets, Truth};

/// What the measure of this name says about itself, as lines to print: metrics, out-of-distribution
/// scores and detection figures.
pub fn explain(name: &str) -> Option<String> {
    let score = || ood::SCORES.iter().find(|score| score.about.name == name);
    let figure = || ood::FIGURES.iter().find(|figure| figure.about.name == name);
    metric(name)
        .map(Metric::explain)
        .or_else(|| score().map(|score| score.about.explain()))
        .or_else(|| figure().map(|figure| figure.about.explain()))
}
