//! The figures of one score on one outside set, with their intervals.

use serde::Serialize;

use super::{FIGURES, OodScore, OodSettings, detect, intervals};
use crate::MeasureError;

/// One figure of one score on one outside set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    pub score: &'static str,
    /// The outside set's name.
    pub out: String,
    pub figure: &'static str,
    /// The figure; `None` where either set is empty.
    pub value: Option<f64>,
    /// The lower end of its 95 % interval over items.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// Every figure of a score, from the scores of the inside and of the outside items, in the order of
/// [`FIGURES`].
///
/// ```
/// use dissensus_measure::ood::{OodInput, OodSettings, rows, score};
/// use dissensus_measure::{Matrix, ModelOutput};
/// let (sure, unsure) = ([4.0, 0.0, 0.0, 0.5, 1.0, 0.0], [0.1, 0.0, 0.3, 0.2, 0.6, 0.0]);
/// let (score, settings) = (score("margin").ok_or("no such score")?, OodSettings::default());
/// let of = |logits| {
///     let predictions = Some(ModelOutput::Logits(Matrix::new(logits, 2)?));
///     (score.compute)(&OodInput { predictions, ..Default::default() }, &settings)
/// };
/// let rows = rows(score, "svhn", &of(&sure[..])?, &of(&unsure[..])?, &settings)?;
/// assert_eq!((rows[0].score, rows[0].figure, rows[0].value), ("margin", "auroc", Some(8.0 / 9.0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn rows(
    score: &OodScore,
    out: &str,
    inside: &[f64],
    outside: &[f64],
    settings: &OodSettings,
) -> Result<Vec<Row>, MeasureError> {
    let detection = detect(inside, outside)?;
    let intervals = intervals(inside, outside, settings)?;
    let row = |figure: &super::Figure| {
        let interval = (figure.interval)(&intervals);
        Row {
            score: score.about.name,
            out: out.to_owned(),
            figure: figure.about.name,
            value: (figure.of)(&detection),
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
        }
    };
    Ok(FIGURES.iter().map(row).collect())
}
