//! A whole detection at once: every score of one inside and several outside sets, every figure.

use serde::Serialize;

use super::{FIGURES, OodInput, OodScore, OodSettings, detect, intervals};
use crate::{Matrix, MeasureError, ModelOutput, truth};

/// One figure of one score on one outside set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The score's name.
    pub score: &'static str,
    /// The outside set's name.
    pub out: String,
    /// The figure's name.
    pub figure: &'static str,
    /// The figure; `None` where either set is empty.
    pub value: Option<f64>,
    /// The lower end of its 95 % interval over items.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// What is wrong with one of the sets.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{set}: {source}")]
pub struct OodError {
    /// The outside set's name, or "inside items".
    pub set: String,
    /// What is wrong.
    pub source: MeasureError,
}

/// Compares the inside items with each outside set, by these scores ([`SCORES`](super::SCORES) for
/// all). Rows come by score, then set, then figure, each in the order of its list. Every set needs
/// what the scores are computed from ([`OodScore::needs`]); the training features are those of the
/// same training items.
///
/// ```
/// use dissensus_measure::ood::{OodInput, OodSettings, score, table};
/// use dissensus_measure::{Matrix, ModelOutput};
/// let (sure, unsure) = ([4.0, 0.0, 0.0, 0.5, 1.0, 0.0], [0.1, 0.0, 0.3, 0.2, 0.6, 0.0]);
/// let of = |logits| OodInput { predictions: Some(ModelOutput::Logits(logits)), ..Default::default() };
/// let (inside, outside) = (of(Matrix::new(&sure[..], 2)?), of(Matrix::new(&unsure[..], 2)?));
/// let scores = [*score("margin").ok_or("no such score")?];
/// let rows = table(&inside, &[("svhn", outside)], &scores, &OodSettings::default())?;
/// assert_eq!((rows[0].score, rows[0].figure, rows[0].value), ("margin", "auroc", Some(8.0 / 9.0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn table(
    inside: &OodInput<'_>,
    outside: &[(&str, OodInput<'_>)],
    scores: &[OodScore],
    settings: &OodSettings,
) -> Result<Vec<Row>, OodError> {
    let of = |set: &str| {
        let set = set.to_owned();
        move |source| OodError { set, source }
    };
    same_items(inside).map_err(of(INSIDE))?;
    for (name, input) in outside {
        same_items(input).map_err(of(name))?;
    }
    let mut rows = Vec::with_capacity(scores.len() * outside.len() * FIGURES.len());
    for score in scores {
        let familiar = (score.compute)(inside, settings).map_err(of(INSIDE))?;
        for (name, input) in outside {
            let foreign = (score.compute)(input, settings).map_err(of(name))?;
            let detection = detect(&familiar, &foreign).map_err(of(name))?;
            let intervals = intervals(&familiar, &foreign, settings).map_err(of(name))?;
            rows.extend(FIGURES.iter().map(|figure| {
                let interval = (figure.interval)(&intervals);
                Row {
                    score: score.about.name,
                    out: (*name).to_owned(),
                    figure: figure.about.name,
                    value: (figure.of)(&detection),
                    low: interval.map(|interval| interval.low),
                    high: interval.map(|interval| interval.high),
                }
            }));
        }
    }
    Ok(rows)
}

const INSIDE: &str = "inside items";

/// Everything about a set is about the same items: as many rows in each of its matrices.
fn same_items(input: &OodInput<'_>) -> Result<(), MeasureError> {
    let predictions = input.predictions.map(|predictions| {
        let (ModelOutput::Logits(matrix) | ModelOutput::Probabilities(matrix)) = predictions;
        matrix
    });
    let of = |what, matrix: Option<Matrix<'_>>| matrix.map(|matrix| (what, matrix.rows()));
    let all = [
        of("rows of the predictions", predictions),
        of("rows of the perturbed logits", input.perturbed),
        of("rows of the features", input.features),
    ];
    let mut there = all.into_iter().flatten();
    let Some((_, expected)) = there.next() else { return Ok(()) };
    there.try_for_each(|(what, found)| truth::size(what, found, expected))
}
