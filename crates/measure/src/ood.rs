//! Out-of-distribution scores: how unusual an item is for a model. One file per score, one list.
//!
//! Every score is "higher = more out-of-distribution". How well a score separates outside items
//! from inside ones is a [`Detection`]; its figures are listed in [`FIGURES`], and how far they would
//! move with other items of the same kind is in [`Intervals`]. [`rows`] gives all of them.

mod bootstrap;
mod delong;
mod detection;
mod energy;
mod entropy;
mod intervals;
mod knn;
mod knn_raw;
mod margin;
mod msp;
mod nearest;
mod odin;
mod products;
mod rows;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub use self::detection::{Detection, FIGURES, Figure, detect};
pub use self::intervals::{Interval, Intervals, intervals};
pub use self::rows::{Row, rows};
use crate::{About, Matrix, MeasureError, ModelOutput};

/// Every score, in the order of the tables.
pub const SCORES: &[OodScore] = &[
    energy::SCORE,
    msp::SCORE,
    odin::SCORE,
    entropy::SCORE,
    margin::SCORE,
    knn::SCORE,
    knn_raw::SCORE,
];

/// The score of this name.
pub fn score(name: &str) -> Option<&'static OodScore> {
    SCORES.iter().find(|score| score.about.name == name)
}

/// What scores are computed from; each takes what it needs.
#[derive(Clone, Copy, Debug, Default)]
pub struct OodInput<'a> {
    /// What the model said of the items.
    pub predictions: Option<ModelOutput<'a>>,
    /// The logits of the items, perturbed as [`OodSettings::epsilon`] says.
    pub perturbed: Option<Matrix<'a>>,
    /// The items' features, one row per item.
    pub features: Option<Matrix<'a>>,
    /// The features of the training items.
    pub training: Option<Matrix<'a>>,
}

/// What can be chosen about the scores and their intervals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OodSettings {
    /// The temperature of the energy.
    pub temperature: f64,
    pub odin_temperature: f64,
    /// How far ODIN moves each number of an input, on the scale that the model sees. It is heeded
    /// where the inputs are perturbed, before they come here.
    pub epsilon: f64,
    /// Which nearest training item the distance is taken to.
    pub neighbours: usize,
    /// How many bootstrap replicates the intervals are read off; with 0, only AUROC has one.
    pub replicates: usize,
    /// The seed of the bootstrap.
    pub seed: u64,
}

impl Default for OodSettings {
    fn default() -> Self {
        Self {
            temperature: 1.0,
            odin_temperature: 1000.0,
            epsilon: 0.0014,
            neighbours: 50,
            replicates: 1000,
            seed: 0,
        }
    }
}

/// What a score is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Needs {
    /// Logits; probabilities have lost their scale.
    Logits,
    /// Logits or probabilities.
    Predictions,
    /// Logits of perturbed inputs.
    Perturbed,
    /// Features of the items and of the training items.
    Features,
}

/// A score: what it says about itself, and how it is computed.
#[derive(Clone, Copy, Debug)]
pub struct OodScore {
    /// In words.
    pub about: About,
    /// What it is computed from.
    pub needs: Needs,
    /// One number per item, higher = more out-of-distribution.
    pub compute: fn(&OodInput<'_>, &OodSettings) -> Result<Vec<f64>, MeasureError>,
}

fn logits<'a>(input: &OodInput<'a>, score: &'static str) -> Result<Matrix<'a>, MeasureError> {
    match input.predictions {
        Some(ModelOutput::Logits(matrix)) => Ok(matrix),
        _ => Err(MeasureError::Missing { score, what: "logits" }),
    }
}

fn positive(name: &'static str, value: f64) -> Result<(), MeasureError> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    let (value, expected) = (value.to_string(), "a number above 0");
    Err(MeasureError::Setting { name, value, expected })
}

/// Computes a number from each row of finite logits.
fn each_row(
    what: &'static str,
    matrix: Matrix<'_>,
    of: impl Fn(&[f64]) -> f64 + Sync,
) -> Result<Vec<f64>, MeasureError> {
    let scratch = || vec![0.0; matrix.columns()];
    let row = |buffer: &mut Vec<f64>, row| {
        matrix.read_finite(what, row, buffer)?;
        Ok(of(buffer))
    };
    in_order((0..matrix.rows()).into_par_iter().map_init(scratch, row).collect())
}

/// Computes a number from each prediction: its probabilities, their logarithms, and the class.
fn each_prediction(
    input: &OodInput<'_>,
    score: &'static str,
    of: impl Fn(&[f64], &[f64], usize) -> f64 + Sync,
) -> Result<Vec<f64>, MeasureError> {
    let missing = MeasureError::Missing { score, what: "logits or probabilities" };
    let predictions = input.predictions.ok_or(missing)?;
    let (ModelOutput::Logits(matrix) | ModelOutput::Probabilities(matrix)) = predictions;
    let scratch = || (vec![0.0; matrix.columns()], vec![0.0; matrix.columns()]);
    let row = |(q, logarithms): &mut (Vec<f64>, Vec<f64>), row| {
        let class = crate::judged::read(predictions, row, q, logarithms)?;
        Ok(of(q, logarithms, class))
    };
    in_order((0..matrix.rows()).into_par_iter().map_init(scratch, row).collect())
}

/// All values, or the error of the first row that has one.
fn in_order(rows: Vec<Result<f64, MeasureError>>) -> Result<Vec<f64>, MeasureError> {
    rows.into_iter().collect()
}

#[cfg(test)]
mod tests;
