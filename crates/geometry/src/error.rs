//! What can go wrong here.

use dissensus_engine::EngineError;

/// An error of the geometry.
#[derive(Debug, thiserror::Error)]
pub enum GeometryError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("{name} is {value}; expected {expected}")]
    Setting { name: &'static str, value: String, expected: &'static str },
    #[error("{what}: {found} numbers; expected {expected}")]
    Lengths { what: String, expected: usize, found: usize },
    #[error("{what} is {value}; expected a finite number{hint}")]
    NotFinite {
        what: String,
        value: f64,
        /// What to look at, starting with a comma or a semicolon; empty where there is nothing.
        hint: &'static str,
    },
    #[error("cancelled")]
    Cancelled,
    #[error("{0}")]
    Data(String),
}

impl GeometryError {
    /// A setting out of its range.
    pub(crate) fn setting(
        name: &'static str,
        value: impl ToString,
        expected: &'static str,
    ) -> Self {
        Self::Setting { name, value: value.to_string(), expected }
    }
}

/// Checks a count.
pub(crate) fn count(what: &str, expected: usize, found: usize) -> Result<(), GeometryError> {
    match expected == found {
        true => Ok(()),
        false => Err(GeometryError::Lengths { what: what.to_owned(), expected, found }),
    }
}

/// Checks that a number is one.
pub(crate) fn finite(
    what: impl FnOnce() -> String,
    value: f64,
    hint: &'static str,
) -> Result<f64, GeometryError> {
    match value.is_finite() {
        true => Ok(value),
        false => Err(GeometryError::NotFinite { what: what(), value, hint }),
    }
}
