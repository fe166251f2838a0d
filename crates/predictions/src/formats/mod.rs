//! How predictions lie in a file: one file per format, and this list.

mod array;
mod chaosnli;
mod json;
mod members;
mod safetensors;
mod table;
mod vector;

use dissensus_io::Example;
use dissensus_io::npy::Array;
use dissensus_io::{Problem, ReadOption, Source};

use crate::error::PredictionError;
use crate::note::Note;
use crate::options::{Kind, ReadOptions};

/// Predictions as they were found, before checks.
#[derive(Default)]
pub(crate) struct RawPredictions {
    /// The model's name, where the file has one.
    pub(crate) name: Option<String>,
    pub(crate) ids: Option<Vec<String>>,
    pub(crate) classes: Option<Vec<String>>,
    pub(crate) values: Vec<f64>,
    pub(crate) width: usize,
    /// What the numbers are, where the name they stand under says so.
    pub(crate) kind: Option<Kind>,
    /// The rows' numbers in the file; empty where they are counted from 1.
    pub(crate) rows: Vec<u64>,
    pub(crate) notes: Vec<Note>,
}

impl RawPredictions {
    /// A row's number in the file.
    pub(crate) fn number(&self, row: usize) -> u64 {
        self.rows.get(row).copied().unwrap_or(row as u64 + 1)
    }

    /// A column's name for messages: its class, or its number from 1.
    pub(crate) fn column(&self, column: usize) -> String {
        let name = self.classes.as_ref().and_then(|names| names.get(column).cloned());
        name.unwrap_or_else(|| format!("#{}", column + 1))
    }

    /// Adds a row and its item to an error.
    pub(crate) fn place(&self, error: PredictionError, row: usize) -> PredictionError {
        let item = self.ids.as_ref().and_then(|ids| ids.get(row).cloned());
        error.row(self.number(row)).item(item)
    }
}

/// Names that predictions go by, in the order in which they are preferred; compared without case,
/// `_` and `-`.
const VALUES: [&str; 18] = [
    "logits",
    "probabilities",
    "probs",
    "proba",
    "probas",
    "predictproba",
    "predictedprobabilities",
    "classprobabilities",
    "softmax",
    "yproba",
    "yprob",
    "predictions",
    "prediction",
    "preds",
    "scores",
    "outputs",
    "output",
    "values",
];

fn plain(name: &str) -> String {
    let kept = name.chars().filter(|c| !matches!(c, '_' | '-' | ' '));
    kept.flat_map(char::to_lowercase).collect()
}

/// The place of a name among those that predictions go by.
fn values_rank(name: &str) -> Option<usize> {
    let plain = plain(name);
    VALUES.iter().position(|known| *known == plain)
}

/// What a name such as `logits` or `probs` says of the numbers under it.
fn kind_of(name: &str) -> Option<Kind> {
    match plain(name).as_str() {
        "logits" => Some(Kind::Logits),
        "probabilities"
        | "probs"
        | "proba"
        | "probas"
        | "predictproba"
        | "yproba"
        | "yprob"
        | "predictedprobabilities"
        | "classprobabilities"
        | "softmax" => Some(Kind::Probabilities),
        _ => None,
    }
}

/// Names of labels, and of what else is kept beside predictions.
fn is_metadata(name: &str) -> bool {
    const NAMES: [&str; 26] = [
        "label",
        "labels",
        "target",
        "targets",
        "gold",
        "goldlabel",
        "ytrue",
        "ypred",
        "prediction",
        "pred",
        "predicted",
        "predictedlabel",
        "predictedclass",
        "argmax",
        "score",
        "confidence",
        "entropy",
        "margin",
        "loss",
        "weight",
        "fold",
        "seed",
        "epoch",
        "split",
        "model",
        "text",
    ];
    NAMES.contains(&plain(name).as_str())
}

/// The numbers of a matrix, row after row, and how many there are in a row.
fn matrix(array: &Array<'_>, options: &ReadOptions) -> Result<(Vec<f64>, usize), Problem> {
    let (rows, width) = array.matrix_shape()?;
    let limit = options.limits.cells;
    if rows.saturating_mul(width) as u64 > limit {
        return Err(Problem::TooLarge { what: "the matrix", limit });
    }
    Ok((array.numbers()?, width))
}

/// A way in which predictions are stored.
pub struct Format {
    /// Its name.
    pub name: &'static str,
    /// What it looks like, in one line.
    pub layout: &'static str,
    /// Where ids, classes and numbers stand, and under which names.
    pub names: &'static str,
    /// Small files of it.
    pub examples: &'static [Example],
    /// The options that mean something for it.
    pub options: &'static [ReadOption],
    pub(crate) detect: fn(&Source) -> bool,
    pub(crate) read: fn(&str, Source, &ReadOptions) -> Result<Vec<RawPredictions>, PredictionError>,
}

/// All formats, the most specific first.
pub const FORMATS: &[Format] =
    &[chaosnli::FORMAT, array::NPY, array::NPZ, safetensors::FORMAT, json::FORMAT, table::FORMAT];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_named_once_and_explained() {
        for (i, format) in FORMATS.iter().enumerate() {
            assert!(FORMATS[..i].iter().all(|other| other.name != format.name), "{}", format.name);
            for text in [format.layout, format.names] {
                assert!(text.len() > 10, "{} has {text:?}", format.name);
            }
        }
    }
}
