//! Errors of studies. Those of a study's file are [`ConfigError`]s, as those of a training spec.

use std::path::PathBuf;

use dissensus_measure::MeasureError;
use dissensus_sources::SourceError;
use dissensus_store::{RunId, StoreError};
use dissensus_train::{ConfigError, TrainError};
use thiserror::Error;

use crate::{Failure, MissingRun};

/// Why a study cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StudyError {
    /// No built-in study of this name.
    #[error("there is no built-in study {name:?}; did you mean `{nearest}`? There are {known}")]
    NoStudy {
        /// The name.
        name: String,
        /// The name nearest to it.
        nearest: String,
        /// All of them, joined.
        known: String,
    },
    /// Votes on a scale that cannot be trained on.
    #[error(transparent)]
    Scale(#[from] dissensus_core::ScaleError),
    /// A file that cannot be read.
    #[error("reading {}: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A JSON object that cannot be a study.
    #[error("{name}: {reason}")]
    Json {
        /// What it is called.
        name: String,
        /// Why not.
        reason: String,
    },
    /// A file, or an override, that cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Data that cannot be loaded.
    #[error("the data of {dataset}: {source}")]
    Load {
        /// The name of the dataset.
        dataset: String,
        /// The cause.
        source: SourceError,
    },
    /// Data that are not those of the chosen runs.
    #[error("{found} data sets for runs on {expected}")]
    Materials {
        /// How many data sets the runs are on.
        expected: usize,
        /// How many came.
        found: usize,
    },
    /// A model that does not fit the data.
    #[error("{arm} on {dataset}: {source}; choose another model.name")]
    Model {
        /// The arm.
        arm: String,
        /// The dataset.
        dataset: String,
        /// The cause.
        source: TrainError,
    },
    /// A loss that does not fit the classes.
    #[error("{arm} on {dataset}: {source}")]
    Loss {
        /// The arm.
        arm: String,
        /// The dataset.
        dataset: String,
        /// The cause.
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
    /// Runs that the store has and that cannot be read.
    #[error("{}", unusable(.runs))]
    Unusable {
        /// Each with its reason.
        runs: Vec<Failure>,
    },
    /// A result of a stage that cannot be written, as where a disk is full. Its run is as it was.
    #[error(transparent)]
    Unwritten(StoreError),
    /// Runs that have not ended, where all are needed.
    #[error("{} of {total} runs are not done:{}", .runs.len(), listed(.runs))]
    Unfinished {
        /// Each with its state.
        runs: Vec<MissingRun>,
        /// How many runs there are, as far as a search has decided.
        total: usize,
    },
    /// A table of results that cannot be read or written.
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
    /// Predictions that cannot be evaluated.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// A model that cannot be examined.
    #[error(transparent)]
    Examine(#[from] dissensus_examine::ExamineError),
    /// Votes that cannot be drawn or estimated.
    #[error(transparent)]
    Labels(#[from] dissensus_labels::LabelError),
}

fn listed(runs: &[MissingRun]) -> String {
    runs.iter().map(|run| format!("\n  {} ({})", run.label, run.state)).collect()
}

fn unusable(runs: &[Failure]) -> String {
    let one = |run: &Failure| format!("run {} ({}): {}", run.id, run.label, run.reason);
    match runs {
        [run] => one(run),
        runs => {
            let all: Vec<String> = runs.iter().map(|run| format!("\n  {}", one(run))).collect();
            format!("{} runs cannot be used:{}", runs.len(), all.concat())
        }
    }
}

impl From<dissensus_stats::StatsError> for StudyError {
    fn from(error: dissensus_stats::StatsError) -> Self {
        Self::Examine(error.into())
    }
}

impl From<dissensus_geometry::GeometryError> for StudyError {
    fn from(error: dissensus_geometry::GeometryError) -> Self {
        Self::Examine(error.into())
    }
}
