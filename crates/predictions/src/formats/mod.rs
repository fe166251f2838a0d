//! How predictions lie in a file: one file per format, and this list.

mod array;
mod chaosnli;
mod safetensors;
mod table;

use dissensus_io::Example;
use dissensus_io::npy::Array;
use dissensus_io::{Problem, ReadError, Source};

use crate::read::{Kind, ReadOptions};

/// Predictions as they were found, before checks.
pub(crate) struct RawPredictions {
    /// The model's name, where the file has one.
    pub(crate) name: Option<String>,
    pub(crate) ids: Option<Vec<String>>,
    pub(crate) classes: Option<Vec<String>>,
    pub(crate) values: Vec<f64>,
    pub(crate) width: usize,
    /// What the numbers are, where the name they stand under says so.
    pub(crate) kind: Option<Kind>,
}

/// What a name such as `logits` or `probs` says of the numbers under it.
fn kind_of(name: &str) -> Option<Kind> {
    let name = name.rsplit('/').next().unwrap_or(name).to_lowercase();
    let name = name.strip_suffix(".npy").unwrap_or(&name);
    match name {
        "logits" => Some(Kind::Logits),
        "probabilities" | "probs" | "predicted_probabilities" => Some(Kind::Probabilities),
        _ => None,
    }
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

fn check_ids(file: &str, ids: Option<&Vec<String>>, rows: usize) -> Result<(), ReadError> {
    match ids {
        Some(ids) if ids.len() != rows => Err(ReadError::new(
            file,
            Problem::Unequal {
                left: "items".into(),
                left_len: ids.len(),
                right: "the matrix".into(),
                right_len: rows,
            },
        )),
        _ => Ok(()),
    }
}

/// A way in which predictions are stored.
pub struct Format {
    /// Its name.
    pub name: &'static str,
    /// What it looks like.
    pub layout: &'static str,
    /// Small files of it.
    pub examples: &'static [Example],
    pub(crate) detect: fn(&Source, &ReadOptions) -> bool,
    pub(crate) read: fn(&str, Source, &ReadOptions) -> Result<Vec<RawPredictions>, ReadError>,
}

/// All formats, the most specific first.
pub const FORMATS: &[Format] =
    &[chaosnli::FORMAT, array::NPY, array::NPZ, table::FORMAT, safetensors::FORMAT];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_named_once_and_explained() {
        for (i, format) in FORMATS.iter().enumerate() {
            assert!(FORMATS[..i].iter().all(|other| other.name != format.name), "{}", format.name);
            assert!(format.layout.len() > 10, "{} has {:?}", format.name, format.layout);
        }
    }
}
