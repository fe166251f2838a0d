//! What can be wrong with a spec, in words that name the key, where it stands and what would do.

use std::fmt;

use dissensus_labels::LabelError;
use thiserror::Error;

/// Where a setting comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line of the spec.
    File {
        /// What the spec is called.
        name: String,
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
    },
    /// An override, as it was given.
    Override(String),
    /// No spec: a value that a caller passed.
    Call,
}

impl Place {
    /// The place of a byte of a text that is called `name`.
    pub fn in_text(name: &str, text: &str, byte: usize) -> Self {
        let before = text.get(..byte).unwrap_or(text);
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        Self::File {
            name: name.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before.get(start..).unwrap_or_default().chars().count() + 1,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { name, line, column } => write!(f, "{name}, line {line}, column {column}"),
            Self::Override(text) => write!(f, "--set {text}"),
            Self::Call => f.write_str("as given"),
        }
    }
}

/// Why a spec cannot be used.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SpecError {
    /// Text that is not TOML.
    #[error("cannot read the spec ({place}): {message}")]
    Syntax {
        /// Where.
        place: Place,
        /// What the TOML reader says.
        message: String,
    },
    /// An override that is not `section.key=value`.
    #[error("cannot read --set {text}: {why}; write it as in --set training.epochs=20")]
    Override {
        /// What was given.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// A section that there is not.
    #[error("unknown section [{name}] ({place}); {hint}")]
    UnknownSection {
        /// What came.
        name: String,
        /// Where.
        place: Place,
        /// What may be meant, and what there is.
        hint: String,
    },
    /// A key that its section does not have.
    #[error("unknown key `{name}` in [{section}] ({place}); {hint}")]
    UnknownKey {
        /// What came.
        name: String,
        /// The section it stands in.
        section: String,
        /// Where.
        place: Place,
        /// What may be meant, and what there is.
        hint: String,
    },
    /// A value where a section should be.
    #[error("{section} is {found} ({place}); expected a table with {keys}")]
    NotATable {
        /// The section.
        section: String,
        /// What came.
        found: String,
        /// Where.
        place: Place,
        /// The keys it has.
        keys: String,
    },
    /// A value of another type, or out of range.
    #[error("{key} is {found} ({place}); expected {expected}")]
    Value {
        /// Section and key.
        key: String,
        /// What came.
        found: String,
        /// What would do.
        expected: &'static str,
        /// Where.
        place: Place,
    },
    /// A name that is not in a list.
    #[error("{key} is {found:?} ({place}); did you mean `{nearest}`? There are {known}")]
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
    /// A delivery or target that cannot be.
    #[error("{key} ({place}): {problem}")]
    Labels {
        /// Section and key.
        key: String,
        /// Where.
        place: Place,
        /// What is wrong with it.
        problem: LabelError,
    },
    /// The same thing twice in a list that runs are made of.
    #[error("{key} names {value} twice ({place}); take one out")]
    Twice {
        /// Section and key.
        key: String,
        /// What stands there twice.
        value: String,
        /// Where.
        place: Place,
    },
    /// Something without a default that is not there.
    #[error("{spec} has no {key}; {remedy}")]
    Missing {
        /// What the spec is called.
        spec: String,
        /// Section and key.
        key: String,
        /// What to write.
        remedy: String,
    },
    /// Settings that do not go together. A setting is never silently left aside.
    #[error("{key} ({place}) {why}")]
    Conflict {
        /// Section and key.
        key: String,
        /// Where.
        place: Place,
        /// Why, and what to do.
        why: String,
    },
}

/// Why a run cannot be trained.
#[derive(Debug, Error)]
pub enum TrainError {
    /// Data that cannot be trained on.
    #[error("{0}")]
    Data(String),
    /// Training was cancelled.
    #[error("training was cancelled after {epochs} epochs")]
    Cancelled {
        /// How many epochs were done.
        epochs: u64,
    },
    /// Training went wrong, and would again: it diverged, or no epoch could be selected.
    #[error("{reason}")]
    Failed {
        /// What happened.
        reason: String,
    },
    /// A spec that cannot be used.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// Items that cannot be split.
    #[error(transparent)]
    Split(#[from] crate::SplitError),
    /// Inputs that cannot be used.
    #[error(transparent)]
    Inputs(#[from] dissensus_inputs::InputError),
    /// Votes that cannot be delivered.
    #[error(transparent)]
    Labels(#[from] LabelError),
    /// Predictions that cannot be judged.
    #[error(transparent)]
    Measure(#[from] dissensus_measure::MeasureError),
    /// A model or device that cannot be used.
    #[error(transparent)]
    Engine(#[from] dissensus_engine::EngineError),
    /// A store that cannot be used.
    #[error(transparent)]
    Store(#[from] dissensus_store::StoreError),
}
