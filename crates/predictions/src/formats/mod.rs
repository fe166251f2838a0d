//! How predictions lie in a file: one file per format, and this list.

mod array;
mod chaosnli;
mod json;
mod long;
mod members;
mod safetensors;
mod table;
mod vector;

use dissensus_io::Example;
use dissensus_io::npy::Array;
use dissensus_io::{Problem, ReadOption, Source};

use crate::context::Context;
use crate::error::PredictionError;
use crate::options::Kind;
use crate::predictions::RawPredictions;

/// Names that predictions go by, in the order in which they are preferred; compared without case,
/// `_` and `-`.
const VALUES: [&str; 33] = [
    "logits",
    "probabilities",
    "probs",
    "proba",
    "probas",
    "predictproba",
    "predictedprobabilities",
    "classprobabilities",
    "classprobs",
    "labelprobs",
    "labelprobabilities",
    "labellogits",
    "classlogits",
    "softmax",
    "softmaxscores",
    "logprobs",
    "ypredproba",
    "ypredprob",
    "predprobs",
    "predprobas",
    "predproba",
    "predictedprobas",
    "predictionprobs",
    "distribution",
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

/// Whether a JSON value is the prediction for an item.
pub(crate) fn is_vector(value: &serde_json::Value) -> bool {
    vector::Vector::of(value).is_some()
}

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
        "logits" | "labellogits" | "classlogits" | "logit" => Some(Kind::Logits),
        "probabilities"
        | "probability"
        | "prob"
        | "labelprobs"
        | "labelprobabilities"
        | "classprobs"
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
    const NAMES: [&str; 37] = [
        "label",
        "labels",
        "target",
        "targets",
        "gold",
        "goldlabel",
        "truelabel",
        "trueclass",
        "truth",
        "true",
        "reference",
        "correct",
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
        "conf",
        "maxprob",
        "length",
        "textlength",
        "nvotes",
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
    NAMES.contains(&plain(name).as_str()) || is_other_id(name)
}

/// Names of ids and numbers of something other than an item: a class, a person, a token.
fn is_other_id(name: &str) -> bool {
    const OF: [&str; 24] = [
        "label",
        "class",
        "category",
        "target",
        "gold",
        "pred",
        "predicted",
        "prediction",
        "predictedlabel",
        "annotator",
        "worker",
        "rater",
        "coder",
        "judge",
        "user",
        "author",
        "model",
        "run",
        "seed",
        "input",
        "token",
        "tokentype",
        "batch",
        "fold",
    ];
    let plain = plain(name);
    let singular = plain.strip_suffix('s').unwrap_or(&plain);
    let of = ["id", "idx", "index"].iter().find_map(|end| singular.strip_suffix(end));
    of.is_some_and(|of| OF.contains(&of))
}

/// Names of a column that only numbers the rows, as data frames write their index.
fn is_row_number(name: &str) -> bool {
    let plain = plain(name);
    plain.starts_with("unnamed:")
        || matches!(
            plain.as_str(),
            "" | "index" | "level0" | "rownames" | "rownumber" | "row" | "x"
        )
}

/// The numbers of a matrix, row after row, and how many there are in a row.
fn matrix(array: &Array<'_>, options: &Context<'_>) -> Result<(Vec<f64>, usize), Problem> {
    let long: Vec<usize> = array.shape.iter().copied().filter(|&n| n != 1).collect();
    // An axis of length 1 says nothing.
    let (rows, width) = match long[..] {
        [rows, width] => (rows, width),
        _ => array.matrix_shape()?,
    };
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
    pub(crate) detect: fn(&Source, &Context<'_>) -> bool,
    pub(crate) read: fn(&str, Source, &Context<'_>) -> Result<Vec<RawPredictions>, PredictionError>,
}

/// All formats, the most specific first.
pub const FORMATS: &[Format] = &[
    chaosnli::FORMAT,
    array::NPY,
    array::NPZ,
    safetensors::FORMAT,
    json::FORMAT,
    long::FORMAT,
    table::FORMAT,
];

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
