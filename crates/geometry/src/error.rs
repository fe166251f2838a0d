//! What can go wrong here.

use dissensus_engine::EngineError;

/// An error of the geometry.
#[derive(Debug, thiserror::Error)]
pub enum GeometryError {
    /// The engine could not do its part.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A setting out of its range.
    #[error("{name} is {value}; expected {expected}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// What it was set to.
        value: String,
        /// What would do.
        expected: &'static str,
    },
    /// Numbers that are not as many as they should be.
    #[error("{what}: {found} numbers; expected {expected}")]
    Lengths {
        /// What was counted.
        what: String,
        /// How many there should be.
        expected: usize,
        /// How many came.
        found: usize,
    },
    /// A NaN or an infinity where a number is needed.
    #[error("{what} is {value}; expected a finite number{hint}")]
    NotFinite {
        /// Where it came up.
        what: String,
        /// What it is.
        value: f64,
        /// What to look at, starting with a comma or a semicolon; empty where there is nothing.
        hint: &'static str,
    },
    /// The work was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// Something that makes no sense together.
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
