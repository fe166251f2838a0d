//! Where everything lies. No other file of the program builds a path inside a store.

use std::path::{Path, PathBuf};

use crate::RunId;

/// The format that this version writes; newer ones are refused, not guessed at.
pub const FORMAT: u64 = 1;

/// Begins the names of files that are being written.
pub(crate) const TEMPORARY: &str = ".dissensus-";
/// Begins the name of a run's folder while it is being made.
pub(crate) const NEW: &str = ".new-";
/// Begins the name of a run's folder once it is removed.
pub(crate) const REMOVED: &str = ".removed-";

/// Which of a run's two sets of weights and predictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Which {
    /// Those of the selected epoch.
    Best,
    /// Those at the end.
    Last,
}

impl Which {
    /// `best` or `last`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Best => "best",
            Self::Last => "last",
        }
    }
}

/// The paths of a store.
#[derive(Clone, Debug)]
pub(crate) struct StoreLayout {
    pub(crate) root: PathBuf,
}

impl StoreLayout {
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    pub(crate) fn marker(&self) -> PathBuf {
        self.root.join("store.json")
    }

    /// Held for the moment in which runs are made and removed.
    pub(crate) fn lock(&self) -> PathBuf {
        self.root.join("lock")
    }

    pub(crate) fn runs(&self) -> PathBuf {
        self.root.join("runs")
    }

    pub(crate) fn run(&self, id: &RunId) -> RunLayout {
        RunLayout { folder: self.runs().join(id.as_str()) }
    }

    /// Whether an entry of the root may stand there in a store that is just being made.
    pub(crate) fn is_ours(name: &str) -> bool {
        matches!(name, "store.json" | "lock" | "runs") || name.starts_with(TEMPORARY)
    }
}

/// The paths of a run.
#[derive(Clone, Debug)]
pub(crate) struct RunLayout {
    pub(crate) folder: PathBuf,
}

impl RunLayout {
    pub(crate) fn spec(&self) -> PathBuf {
        self.folder.join("spec.json")
    }

    pub(crate) fn about(&self) -> PathBuf {
        self.folder.join("about.json")
    }

    pub(crate) fn status(&self) -> PathBuf {
        self.folder.join("status.json")
    }

    pub(crate) fn history(&self) -> PathBuf {
        self.folder.join("history.jsonl")
    }

    pub(crate) fn checkpoint(&self) -> PathBuf {
        self.folder.join("checkpoint.safetensors")
    }

    pub(crate) fn weights(&self, which: Which) -> PathBuf {
        self.folder.join(format!("{}.safetensors", which.name()))
    }

    pub(crate) fn predictions_folder(&self) -> PathBuf {
        self.folder.join("predictions")
    }

    pub(crate) fn predictions(&self, which: Which) -> PathBuf {
        self.predictions_folder().join(format!("{}.npz", which.name()))
    }

    pub(crate) fn events(&self) -> PathBuf {
        self.folder.join("events")
    }

    pub(crate) fn result(&self) -> PathBuf {
        self.folder.join("result.json")
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.folder.join("lock")
    }
}
