//! How predictions lie in a file: one file a format, and this list.

mod array;
mod chaosnli;
pub(crate) mod safetensors;
mod table;

use dissensus_io::ReadError;
use dissensus_io::Source;

use crate::read::{Kind, ReadOptions};

/// Predictions as they were found, before checks.
pub(crate) struct Found {
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

/// A way in which predictions are stored.
pub struct Format {
    /// Its name.
    pub name: &'static str,
    /// What it looks like.
    pub layout: &'static str,
    pub(crate) detect: fn(&Source, &ReadOptions) -> bool,
    pub(crate) read: fn(&str, Source, &ReadOptions) -> Result<Vec<Found>, ReadError>,
}

/// All formats, the most specific first. (safetensors is told by its first bytes.)
pub const FORMATS: &[Format] =
    &[chaosnli::FORMAT, array::NPY, array::NPZ, table::FORMAT, safetensors::FORMAT];
