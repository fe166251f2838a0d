//! What can go wrong with a store, in words that name the file, what was expected and what came.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::{FORMAT, RunId};

/// Why the store did not do what it was asked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The operating system says no.
    #[error("{doing} {}: {source}", .path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// With which file or folder.
        path: PathBuf,
        /// What it says.
        source: std::io::Error,
    },
    /// There is nothing at the path.
    #[error("there is no store at {}", .path.display())]
    NoStore {
        /// The path.
        path: PathBuf,
    },
    /// There is something at the path, and it is not a store.
    #[error("{} is not a store: it has no store.json, but {found:?}", .path.display())]
    NotAStore {
        /// The path.
        path: PathBuf,
        /// Something that lies there instead.
        found: String,
    },
    /// A version of the format that this program does not know.
    #[error("{} was made by a newer dissensus: its format is {found}, this one knows up to {FORMAT}", .path.display())]
    Newer {
        /// The file that says so.
        path: PathBuf,
        /// Its format.
        found: u64,
    },
    /// A JSON file that is not JSON, or not what belongs there.
    #[error("{} is damaged: {error}", .path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// What was expected, what came, and at which line.
        error: serde_json::Error,
    },
    /// A file that is not as it was written.
    #[error("{} is damaged: its SHA-256 is {found}, expected {expected}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What its run's status says.
        expected: String,
        /// What it has.
        found: String,
    },
    /// A whole file, or a folder, that belongs somewhere else.
    #[error("{} does not belong there: {reason}", .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// Something else where a run's folder should be.
    #[error("{} is {found}, where the folder of a run should be", .path.display())]
    NotARun {
        /// Where it lies.
        path: PathBuf,
        /// What it is.
        found: &'static str,
    },
    /// The best weights of an unfinished run that cannot be had again without training it again.
    #[error("the best weights of run {id} are not those that it saved")]
    BestLost {
        /// The run.
        id: RunId,
    },
    /// Something that a study's results were made of is gone.
    #[error("the results of study {study} were made of what is gone: {}", few(.gone))]
    Less {
        /// The study.
        study: String,
        /// Runs and files, in words.
        gone: Vec<String>,
    },
    /// A file that is gone, and its record is not.
    #[error("{} is gone, though it was written", .path.display())]
    Gone {
        /// The file.
        path: PathBuf,
    },
    /// Something that is not a plain file or folder among the files of a store.
    #[error("{} is {found}; a store holds plain files and folders", .path.display())]
    NotPlain {
        /// Where it lies.
        path: PathBuf,
        /// What it is.
        found: &'static str,
    },
    /// Text that is not an id.
    #[error("{text:?} is not the id of a run; expected 16 hex digits, as in \"0123456789abcdef\"")]
    BadId {
        /// The text.
        text: String,
    },
    /// No id begins like that.
    #[error("no run begins with {prefix:?}; {}", listed(.nearest))]
    NoRun {
        /// What was asked for.
        prefix: String,
        /// The ids most like it; empty in an empty store.
        nearest: Vec<RunId>,
    },
    /// Several ids begin like that.
    #[error("{} runs begin with {prefix:?}: {}", .candidates.len(), join(.candidates))]
    Ambiguous {
        /// What was asked for.
        prefix: String,
        /// All of them, sorted.
        candidates: Vec<RunId>,
    },
    /// Another process is at it.
    #[error("run {id} is being trained by {}", holder(.process))]
    Locked {
        /// The run.
        id: RunId,
        /// The process, as the run's status says.
        process: Option<u32>,
    },
    /// A file system without locks.
    #[error("{}: the file system has no locks, and without them two processes could train one run", .path.display())]
    NoLocks {
        /// The file that was to be locked.
        path: PathBuf,
    },
    /// A spec that is not the one the run was made from.
    #[error("{}: the spec's digest is {found}, expected {expected}", .path.display())]
    Digest {
        /// The spec's file.
        path: PathBuf,
        /// The run.
        id: RunId,
        /// What the run's about.json (or its folder's name) says.
        expected: String,
        /// What the spec there amounts to.
        found: String,
    },
    /// Two specs with one id.
    #[error(
        "run {id} has the same id and another spec: its digest is {found}, expected {expected}"
    )]
    Collision {
        /// The run.
        id: RunId,
        /// The digest of the spec asked for.
        expected: String,
        /// The digest of the run that is there.
        found: String,
    },
    /// A checkpoint that cannot be continued from.
    #[error("the checkpoint of run {id} is damaged: {}: {reason}", .path.display())]
    Checkpoint {
        /// The run.
        id: RunId,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Weights that cannot be read.
    #[error("{} does not hold weights: {reason}", .path.display())]
    Weights {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Predictions that cannot be read.
    #[error("{} does not hold predictions: {reason}", .path.display())]
    Predictions {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A tensor whose shape and values do not fit.
    #[error("tensor {name:?} of shape {shape:?} has {values} values")]
    TensorShape {
        /// The tensor.
        name: String,
        /// Its shape.
        shape: Vec<usize>,
        /// How many values came.
        values: usize,
    },
    /// A name that a tensor cannot have.
    #[error("a tensor cannot be called {name:?}: {reason}")]
    TensorName {
        /// The name.
        name: String,
        /// Why not.
        reason: &'static str,
    },
    /// Names, state and history that are too long for the head of a file.
    #[error("{}: names, state and history take {bytes} bytes, expected at most {limit}", .path.display())]
    HeadTooLarge {
        /// The file that was to be written.
        path: PathBuf,
        /// How long they are.
        bytes: usize,
        /// How long they may be.
        limit: usize,
    },
    /// Logits that cannot be stored.
    #[error(transparent)]
    Logits(#[from] dissensus_predictions::LogitsError),
    /// A name that a study or a file of one cannot have.
    #[error(
        "{name:?} cannot be the name of {what}; expected letters, digits, dots, dashes and \
         underscores, no dot or dash first, and not too many"
    )]
    BadName {
        /// A study, or a file of a study.
        what: &'static str,
        /// What came.
        name: String,
    },
    /// An output that may not be written.
    #[error(transparent)]
    Output(#[from] dissensus_io::FileError),
    /// A file that is not a pack, or not a whole one. Nothing was taken from it.
    #[error("{} is not a whole pack of a store: {reason}", .path.display())]
    Pack {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

impl StoreError {
    pub(crate) fn io(doing: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::Io { doing, path: path.to_owned(), source }
    }

    pub(crate) fn foreign(path: &Path, reason: impl Into<String>) -> Self {
        Self::Foreign { path: path.to_owned(), reason: reason.into() }
    }

    /// Whether a file is not as it was written.
    pub fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::Damaged { .. } | Self::Foreign { .. } | Self::Gone { .. } | Self::Json { .. }
        )
    }

    /// Whether nothing can be written there, though it can be read.
    pub fn is_read_only(&self) -> bool {
        use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
        let Self::Io { source, .. } = self else { return false };
        matches!(source.kind(), PermissionDenied | ReadOnlyFilesystem)
    }

    /// What the user can do about it.
    pub fn remedy(&self) -> Option<Remedy> {
        let remove = |path: &Path| run_of(path).map(Remedy::RemoveRun);
        Some(match self {
            Self::Io { path, source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                return remove(path);
            }
            Self::NoStore { .. } => Remedy::Words("check the path; training into it makes a store"),
            Self::NotAStore { .. } => Remedy::Words("name a store, or a new or empty folder"),
            Self::Newer { .. } => Remedy::Words("update dissensus, or use another store"),
            Self::Json { path, .. } => remove(path)
                .unwrap_or(Remedy::Words("restore the file from a copy, or use another store")),
            Self::NoRun { .. } => Remedy::ListRuns,
            Self::Ambiguous { .. } => Remedy::Words("give more digits of the id"),
            Self::Locked { .. } => Remedy::Words("wait for it, or stop that process"),
            Self::NoLocks { .. } => Remedy::Words("keep the store on another file system"),
            Self::Digest { id, .. } | Self::Checkpoint { id, .. } => Remedy::RemoveRun(id.clone()),
            Self::Collision { id, .. } => Remedy::KeepOne(id.clone()),
            Self::Pack { .. } => Remedy::Words("pack the store again, and copy the file whole"),
            Self::Weights { path, .. }
            | Self::Predictions { path, .. }
            | Self::Damaged { path, .. } => return remove(path),
            Self::Foreign { path, .. } => match run_of(path) {
                Some(id) => Remedy::RestoreRun(id),
                None => Remedy::Words("put back the file that belongs there, from a copy"),
            },
            Self::NotARun { found, .. } => Remedy::Words(match *found {
                CAPITALS => "rename it, in lower case",
                _ => "move it away, or put the run's own folder there",
            }),
            Self::Less { .. } => Remedy::Words("restore it from a copy, or run the study again"),
            Self::NotPlain { .. } => Remedy::Words("put the file itself there, or remove it"),
            _ => return None,
        })
    }
}

/// What can be done about an error. A front end words what it has commands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Remove this run; it then starts anew.
    RemoveRun(RunId),
    /// Put the run's own file back, or remove the run.
    RestoreRun(RunId),
    /// Keep one of two runs of this id in another store, or remove it.
    KeepOne(RunId),
    /// List the runs.
    ListRuns,
    /// In these words.
    Words(&'static str),
}

/// What is found where the name of a run's folder is in capitals.
pub(crate) const CAPITALS: &str = "a name with capitals";

/// The first of these, and how many there are.
fn few(gone: &[String]) -> String {
    const FEW: usize = 5;
    match gone.len().saturating_sub(FEW) {
        0 => gone.join(", "),
        more => format!("{} and {more} more", gone[..FEW].join(", ")),
    }
}

/// The run that a file belongs to: the nearest folder above it that is called like one.
fn run_of(path: &Path) -> Option<RunId> {
    path.ancestors().skip(1).find_map(|folder| folder.file_name()?.to_str()?.parse().ok())
}

fn join(ids: &[RunId]) -> String {
    ids.iter().map(RunId::as_str).collect::<Vec<_>>().join(", ")
}

fn listed(ids: &[RunId]) -> String {
    match ids {
        [] => "the store has no runs".to_owned(),
        ids => format!("the nearest are {}", join(ids)),
    }
}

fn holder(process: &Option<u32>) -> String {
    match process {
        Some(process) => format!("process {process}"),
        None => "another process".to_owned(),
    }
}
