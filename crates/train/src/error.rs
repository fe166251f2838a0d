//! Errors of configuration files and of training. An error of a file names the key, its position, and
//! what is expected there.

use std::fmt;

use dissensus_labels::{LabelError, nearest};
use thiserror::Error;

/// Where a setting is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line of the file.
    File {
        /// The name of the file.
        name: String,
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
    },
    /// An override, as it was given.
    Override(String),
    /// An argument of a call, by its name.
    Argument(String),
    /// A value that a caller passed.
    Call,
}

impl Place {
    /// What a setting is called there: an argument has a name of its own.
    pub(crate) fn key(&self, path: &str) -> String {
        match self {
            Self::Argument(name) => name.clone(),
            _ => path.to_owned(),
        }
    }

    /// The place in brackets; of an argument, its name is enough.
    fn said(&self) -> String {
        match self {
            Self::Argument(_) => String::new(),
            place => format!(" ({place})"),
        }
    }

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
            Self::Override(text) => write!(f, "override {text}"),
            Self::Argument(name) => write!(f, "argument {name}"),
            Self::Call => f.write_str("as given"),
        }
    }
}

/// Why a configuration file (a training spec or a study) cannot be used.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ConfigError {
    /// Text that is not TOML, or a value of the wrong type.
    #[error("cannot read the file ({place}): {message}")]
    Syntax {
        /// Where.
        place: Place,
        /// What the TOML reader says.
        message: String,
    },
    /// An override that is not `section.key=value`.
    #[error(
        "cannot read the override {text}: {why}; expected SECTION.KEY=VALUE, as in \
         training.epochs=20"
    )]
    Override {
        /// The override.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// An unknown section.
    #[error("unknown section [{name}]{}; {hint}", place.said())]
    UnknownSection {
        /// Its name.
        name: String,
        /// Where.
        place: Place,
        /// The likely correction, and the known sections.
        hint: String,
    },
    /// An unknown key.
    #[error("unknown key `{name}` in {section}{}; {hint}", place.said())]
    UnknownKey {
        /// Its name.
        name: String,
        /// The section, as it is written: `[training]`, `[[arm]]`.
        section: String,
        /// Where.
        place: Place,
        /// The likely correction.
        hint: String,
        /// The keys of the section.
        known: Vec<String>,
    },
    /// A value of the wrong type, or out of range.
    #[error("{key} is {found}{}; expected {expected}", place.said())]
    Value {
        /// Section and key.
        key: String,
        /// The value.
        found: String,
        /// The values that are accepted.
        expected: String,
        /// Where.
        place: Place,
    },
    /// A name that is not in a list.
    #[error(
        "{key} is {found:?}, which is unknown{}; did you mean `{nearest}`? There are {known}",
        place.said()
    )]
    UnknownName {
        /// Section and key.
        key: String,
        /// The unknown name.
        found: String,
        /// The known name nearest to it.
        nearest: String,
        /// All known names, joined.
        known: String,
        /// Where.
        place: Place,
    },
    /// A required key or section that is missing.
    #[error("{file} has no {key}; {remedy}")]
    Missing {
        /// The file.
        file: String,
        /// Section and key.
        key: String,
        /// What to write.
        remedy: String,
    },
    /// Settings that exclude each other. No setting is ignored silently.
    #[error("{key}{} {why}", place.said())]
    Conflict {
        /// Section and key.
        key: String,
        /// Where.
        place: Place,
        /// Why, and what to do.
        why: String,
    },
    /// A study where a training spec is expected.
    #[error("this is a study, not a training spec: it has {section} ({place})")]
    IsStudy {
        /// The first section that only studies have.
        section: String,
        /// Where.
        place: Place,
    },
}

impl ConfigError {
    /// That a name is not in a list.
    pub fn unknown_name<'a>(
        key: impl Into<String>,
        found: &str,
        known: impl Iterator<Item = &'a str> + Clone,
        place: &Place,
    ) -> Self {
        Self::UnknownName {
            key: key.into(),
            found: found.to_owned(),
            nearest: nearest(found, known.clone()).to_owned(),
            known: known.collect::<Vec<_>>().join(", "),
            place: place.clone(),
        }
    }

    /// That a value is given where a table is expected; `keys` are those of the table, if known.
    pub(crate) fn not_a_table(section: String, found: &str, keys: &str, place: Place) -> Self {
        let with = if keys.is_empty() { "" } else { " with " };
        let (found, expected) = (format!("of the type {found}"), format!("a table{with}{keys}"));
        Self::Value { key: section, found, expected, place }
    }

    /// That a required key or section is missing in a file.
    pub fn missing(file: &str, key: &str, remedy: &str) -> Self {
        let (file, key, remedy) = (file.to_owned(), key.to_owned(), remedy.to_owned());
        Self::Missing { file, key, remedy }
    }
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
        /// The model of these epochs; `None` where none could be selected, and for a run of a store, which
        /// can be continued.
        trained: Option<Box<crate::Trained>>,
    },
    /// Training went wrong, and would again: it diverged, or no epoch could be selected.
    #[error("{reason}")]
    Failed {
        /// What happened.
        reason: String,
    },
    /// A spec that cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A loss that these classes do not have.
    #[error("training.loss is {loss:?}, which {why}")]
    Loss {
        /// Its name.
        loss: &'static str,
        /// What it needs, what came, and what to do.
        why: String,
    },
    /// Items that cannot be split.
    #[error(transparent)]
    Split(#[from] crate::SplitError),
    /// Votes on a scale that cannot be trained on.
    #[error(transparent)]
    Scale(#[from] dissensus_core::ScaleError),
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
