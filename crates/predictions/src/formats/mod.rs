//! How predictions lie in a file: one file a format, and this list.

mod array;
mod chaosnli;
pub(crate) mod safetensors;
mod table;

use dissensus_votes::ReadError;
use dissensus_votes::containers::Source;

use crate::read::ReadOptions;

/// Predictions as they were found, before checks.
pub(crate) struct Found {
    /// The model's name, where the file has one.
    pub(crate) name: Option<String>,
    pub(crate) ids: Option<Vec<String>>,
    pub(crate) classes: Option<Vec<String>>,
    pub(crate) values: Vec<f64>,
    pub(crate) width: usize,
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
