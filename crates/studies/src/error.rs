//! What can be wrong with a study, in words that name the key, where it stands and what would do.

use std::path::PathBuf;

use dissensus_measure::MeasureError;
use dissensus_store::{RunId, StoreError};
use dissensus_train::{Place, SpecError, TrainError};
use thiserror::Error;

/// Any error of who loads data.
pub type LoadError = Box<dyn std::error::Error + Send + Sync>;

/// Why a study cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StudyError {
    /// Text that is not TOML.
    #[error("cannot read the study ({place}): {message}")]
    Syntax {
        /// Where.
        place: Place,
        /// What the TOML reader says.
        message: String,
    },
    /// A key or section that there is not.
    #[error(
        "unknown key `{name}` in {section} ({place}); did you mean `{nearest}`? There are {known}"
    )]
    UnknownKey {
        /// What came.
        name: String,
        /// What it stands in.
        section: String,
        /// Where.
        place: Place,
        /// The known key nearest to it.
        nearest: String,
        /// All of them, joined.
        known: String,
    },
    /// A value of another type, or out of range.
    #[error("{key} is {found} ({place}); expected {expected}")]
    Value {
        /// Section and key.
        key: String,
        /// What came.
        found: String,
        /// What would do.
        expected: String,
        /// Where.
        place: Place,
    },
    /// A name that is not in a list.
    #[error("{key} names {found:?} ({place}); did you mean `{nearest}`? There are {known}")]
    UnknownName {
        /// Section and key.
        key: String,
        /// What came.
        found: String,
        /// The known name nearest to it.
        nearest: String,
        /// All of them, joined.
        known: String,
        /// Where.
        place: Place,
    },
    /// Something that is not there.
    #[error("{study} has no {key}; {remedy}")]
    Missing {
        /// What the study's file is called.
        study: String,
        /// Section and key.
        key: String,
        /// What to write.
        remedy: String,
    },
    /// The same name twice.
    #[error("{key} names {value:?} twice ({place}); call one of them otherwise")]
    Twice {
        /// Section and key.
        key: String,
        /// What stands there twice.
        value: String,
        /// Where.
        place: Place,
    },
    /// Settings that do not go together, or that have their own place.
    #[error("{key} ({place}) {why}")]
    Conflict {
        /// Section and key.
        key: String,
        /// Where.
        place: Place,
        /// Why, and what to do.
        why: String,
    },
    /// No built-in study of this name.
    #[error("there is no built-in study {name:?}; did you mean `{nearest}`? There are {known}")]
    NoStudy {
        /// What was asked for.
        name: String,
        /// The nearest.
        nearest: String,
        /// All of them, joined.
        known: String,
    },
    /// A file that cannot be read.
    #[error("reading {}: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// A key of a run's spec that cannot be as it is.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// Data that cannot be loaded.
    #[error("the data of {dataset}: {source}")]
    Load {
        /// The data set, as the study calls it.
        dataset: String,
        /// What the one who loads says.
        source: LoadError,
    },
    /// A model that does not fit the data.
    #[error("{arm} on {dataset}: {source}; choose another spec.model")]
    Model {
        /// The arm.
        arm: String,
        /// The data set.
        dataset: String,
        /// What the engine says.
        source: TrainError,
    },
    /// A run whose results are not what they should be.
    #[error("run {id}: {reason}")]
    Run {
        /// The run.
        id: RunId,
        /// What is wrong with it.
        reason: String,
    },
    /// A table of results that is none.
    #[error("{what}: {reason}")]
    Results {
        /// Which one.
        what: String,
        /// What was expected, what came, and in which line.
        reason: String,
    },
    /// A store that cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Predictions that cannot be judged.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// A model that cannot be looked into.
    #[error(transparent)]
    Examine(#[from] dissensus_examine::ExamineError),
    /// Votes that cannot be drawn or estimated.
    #[error(transparent)]
    Labels(#[from] dissensus_labels::LabelError),
}

impl From<dissensus_geometry::GeometryError> for StudyError {
    fn from(error: dissensus_geometry::GeometryError) -> Self {
        Self::Examine(error.into())
    }
}

impl StudyError {
    /// What the user can do about it, where the message does not say.
    pub fn remedy(&self) -> Option<String> {
        match self {
            Self::Run { id, .. } => {
                Some(format!("`dissensus runs rm {id}` removes it; it then starts anew"))
            }
            _ => None,
        }
    }
}
