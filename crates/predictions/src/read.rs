//! From a file to predictions: open, detect, read, and tell logits from probabilities.

use std::path::Path;

use dissensus_core::SUM_TOLERANCE;
use dissensus_io::{Delimiter, Input, Limits, Problem, ReadError, Source, SourceOptions};
use serde::{Deserialize, Serialize};

use crate::formats::{FORMATS, RawPredictions};

/// What the numbers of a prediction are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Scores before the softmax.
    Logits,
    /// Shares that sum to 1.
    Probabilities,
}

impl std::str::FromStr for Kind {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "logits" => Ok(Self::Logits),
            "probabilities" => Ok(Self::Probabilities),
            _ => Err("expected `logits` or `probabilities`".to_owned()),
        }
    }
}

/// How to read a file of predictions. The default detects everything.
///
/// Every field but `limits` is a key of the same name, in a file or (with dashes) on a command
/// line.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReadOptions {
    /// Logits or probabilities.
    pub kind: Option<Kind>,
    /// Column of the item id.
    pub id: Option<String>,
    /// The delimiter of a text table.
    pub delimiter: Option<Delimiter>,
    /// Whether a text table's first row is its header.
    pub header: Option<bool>,
    /// The largest things that are read.
    #[serde(skip)]
    pub limits: Limits,
}

impl ReadOptions {
    fn source(&self) -> SourceOptions {
        SourceOptions { delimiter: self.delimiter, header: self.header, limits: self.limits }
    }
}

/// What a model said, one row per item.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    /// The model: its name in the file, or the file's.
    pub name: String,
    /// The items' ids; `None` where the file has none.
    pub ids: Option<Vec<String>>,
    /// The classes' names; `None` where the file has none.
    pub classes: Option<Vec<String>>,
    /// Values, row after row.
    pub values: Vec<f64>,
    /// Values in a row.
    pub width: usize,
    /// What they are.
    pub kind: Kind,
    /// Whether that was detected (or said by the user).
    pub kind_detected: bool,
}

impl Predictions {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.values.len().checked_div(self.width).unwrap_or(0)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

/// Reads a file, or standard input for `-`.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Vec<Predictions>, ReadError> {
    read_input(Input::open(path)?, options)
}

/// Reads bytes in memory under a name for messages.
pub fn read_bytes(
    name: &str,
    bytes: Vec<u8>,
    options: &ReadOptions,
) -> Result<Vec<Predictions>, ReadError> {
    read_input(Input::from_bytes(name, bytes)?, options)
}

fn read_input(input: Input, options: &ReadOptions) -> Result<Vec<Predictions>, ReadError> {
    let file = input.name.clone();
    let source = Source::open(input, &options.source())?;
    let Some(format) = FORMATS.iter().find(|format| (format.detect)(&source, options)) else {
        let seen = format!("{} (of predictions)", source.describe());
        return Err(ReadError::new(file, Problem::UnknownFormat { seen }));
    };
    let found = (format.read)(&file, source, options)?;
    found.into_iter().map(|found| finish(&file, found, options)).collect()
}

/// Checks the numbers and tells what they are.
fn finish(
    file: &str,
    found: RawPredictions,
    options: &ReadOptions,
) -> Result<Predictions, ReadError> {
    let RawPredictions { name, ids, classes, values, width, kind } = found;
    let error = |row: usize, problem: Problem| {
        let mut error = ReadError::new(file, problem).row(row as u64);
        error.item = ids.as_ref().and_then(|ids| ids.get(row).cloned());
        error
    };
    if width == 0 || values.is_empty() {
        return Err(ReadError::new(file, Problem::NoVotes));
    }
    if let Some(at) = values.iter().position(|value| !value.is_finite()) {
        let text = values[at].to_string();
        return Err(error(at / width, Problem::NotANumber { text }));
    }
    if let Some(ids) = &ids {
        let mut seen = std::collections::HashSet::new();
        if let Some(row) = ids.iter().position(|id| !seen.insert(id)) {
            return Err(error(row, Problem::DuplicateItem { id: ids[row].clone() }));
        }
    }
    let kind = options.kind.or(kind).unwrap_or_else(|| detect_kind(&values, width));
    if kind == Kind::Probabilities {
        for (row, values) in values.chunks(width).enumerate() {
            let sum: f64 = values.iter().sum();
            if (sum - 1.0).abs() > SUM_TOLERANCE || values.iter().any(|v| *v < 0.0) {
                let problem = match dissensus_core::Distribution::new(values.to_vec()) {
                    Err(problem) => Problem::NotADistribution(problem),
                    Ok(_) => continue,
                };
                return Err(error(row, problem));
            }
        }
    }
    let name = name.unwrap_or_else(|| stem(file));
    Ok(Predictions {
        name,
        ids,
        classes,
        values,
        width,
        kind,
        kind_detected: options.kind.is_none(),
    })
}

/// Probabilities where every row is a distribution, else logits.
fn detect_kind(values: &[f64], width: usize) -> Kind {
    let distribution = |row: &[f64]| {
        row.iter().all(|v| (0.0..=1.0 + SUM_TOLERANCE).contains(v))
            && (row.iter().sum::<f64>() - 1.0).abs() <= SUM_TOLERANCE
    };
    match values.chunks(width).all(distribution) {
        true => Kind::Probabilities,
        false => Kind::Logits,
    }
}

/// A file's name without its folder and ending.
fn stem(file: &str) -> String {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    if stem.is_empty() { name.to_owned() } else { stem.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logits_and_probabilities_are_told_apart() {
        assert_eq!(detect_kind(&[0.2, 0.8, 1.0, 0.0], 2), Kind::Probabilities);
        assert_eq!(detect_kind(&[0.2, 0.8, 1.5, -0.5], 2), Kind::Logits);
        assert_eq!(detect_kind(&[0.2, 0.7], 2), Kind::Logits);
        assert_eq!(stem("a/b/soft.seed1.npy"), "soft");
    }

    #[test]
    fn a_name_says_what_numbers_are() {
        let read = |key: &str| {
            let text = format!("{{\"id\": \"a\", \"{key}\": [0.4, 0.6]}}\n");
            read_bytes("x", text.into(), &ReadOptions::default()).unwrap()[0].kind
        };
        assert_eq!((read("logits"), read("probs")), (Kind::Logits, Kind::Probabilities));
        assert_eq!(read("scores"), Kind::Probabilities);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let read = |text: &str, kind| {
            let options = ReadOptions { kind, ..ReadOptions::default() };
            read_bytes("x", text.into(), &options).err().unwrap().to_string()
        };
        let text = "id,cat,dog\na,0.5,0.5\nb,inf,0\n";
        assert_eq!(read(text, None), "x, row 1, item \"b\": \"inf\" is not a number");
        let text = "id,cat,dog\na,0.5,0.5\nb,0.5,0.1\n";
        let error = read(text, Some(Kind::Probabilities));
        assert_eq!(
            error,
            "x, row 1, item \"b\": the probabilities sum to 0.6, not to 1 within 0.005"
        );
        let text = "id,cat,dog\na,0.5,0.5\na,0.5,0.5\n";
        assert_eq!(read(text, None), "x, row 1, item \"a\": item \"a\" appears twice");
    }
}
