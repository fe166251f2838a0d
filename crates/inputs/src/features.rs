//! Feature vectors: items × width, row after row.

use std::io::{self, Seek, Write};

use dissensus_io::npy;
use dissensus_io::npz::NpzWriter;

use crate::error::{InputError, place};

/// Feature vectors of one width; every value is finite.
#[derive(Clone, Debug, PartialEq)]
pub struct Features {
    width: usize,
    values: Vec<f32>,
}

impl Features {
    /// Checks that the values make whole rows and are finite. `name` says in messages what they
    /// belong to.
    pub fn new(name: &str, width: usize, values: Vec<f32>) -> Result<Self, InputError> {
        if width == 0 || values.is_empty() || !values.len().is_multiple_of(width) {
            let shape = vec![values.len().checked_div(width).unwrap_or(0), width];
            return Err(InputError::Shape { file: name.to_owned(), shape });
        }
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            return Err(InputError::NotFinite {
                file: name.to_owned(),
                place: place(at / width, None),
                column: (at % width).to_string(),
                value: f64::from(values[at]),
            });
        }
        Ok(Self { width, values })
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.values.len() / self.width
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Values in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// All values, row after row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// One row; empty where there is no such row.
    pub fn row(&self, row: usize) -> &[f32] {
        self.values.chunks_exact(self.width).nth(row).unwrap_or(&[])
    }

    /// The rows at these places.
    pub(crate) fn select(&self, places: &[usize]) -> Self {
        let values = places.iter().flat_map(|&row| self.row(row).iter().copied()).collect();
        Self { width: self.width, values }
    }
}
/// Writes feature vectors as numpy's `.npz`: `features` (items × width) and `ids`.
pub fn write_features(
    out: impl Write + Seek,
    ids: &[String],
    width: usize,
    values: &[f32],
) -> io::Result<()> {
    let mut npz = NpzWriter::new(out);
    npy::write_array(npz.array("features")?, &[ids.len(), width], values)?;
    npy::write_texts(npz.array("ids")?, ids.iter().map(String::as_str))?;
    npz.finish()
}
