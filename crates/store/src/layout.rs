//! Where everything lies. No other file of the program builds a path inside a store.

use std::path::{Path, PathBuf};

use dissensus_io::{STORE_MARKER, TEMPORARY};

use crate::{RunId, StoreError, files};

/// The format that this version writes; newer ones are refused, not guessed at. From format 2 on, every file
/// of a run is bound to it: it carries the run's id, or its status has the checksum of it.
pub const FORMAT: u64 = 2;

/// Begins the name of a run's folder while it is being made.
pub(crate) const NEW: &str = ".new-";
/// Begins the name of a run's folder once it is removed.
pub(crate) const REMOVED: &str = ".removed-";
/// Begins the name of the folder that a pack is taken apart in.
pub(crate) const UNPACKING: &str = ".unpack-";

/// Begins the names of a study's files for a cluster: scripts, logs, ids of jobs.
pub(crate) const CLUSTER: &str = "cluster/";

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

/// Whether a name can be a file's or a folder's everywhere: letters, digits, dots, dashes and
/// underscores, no dot or dash first, no dot last. So none leads out of its folder.
pub(crate) fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    (1..=LONGEST).contains(&name.len())
        && name.chars().all(plain)
        && !name.starts_with(['.', '-'])
        && !name.ends_with('.')
}

/// Whether this names something in a study's folder: plain names, up to three, between slashes.
pub(crate) fn is_artifact(name: &str) -> bool {
    name.len() <= LONGEST_ARTIFACT
        && name.split('/').count() <= DEEPEST
        && name.split('/').all(is_plain)
}

/// The run that a file of a study was computed from: `stages/STAGE/RUN.csv`, or with other runs beside
/// it `stages/STAGE/RUN-PEERS.json`.
pub(crate) fn run_of_artifact(name: &str) -> Option<RunId> {
    let file = name.strip_prefix("stages/")?.rsplit('/').next()?;
    file.split(['.', '-']).next()?.parse().ok()
}

const LONGEST: usize = 60;
/// With it every path of a study fits the head of an archive's entry.
const LONGEST_ARTIFACT: usize = 90;
const DEEPEST: usize = 3;

/// Files and folders by their names below a folder.
macro_rules! below {
    ($folder:ident: $($(#[$doc:meta])* $name:ident = $file:expr),* $(,)?) => {$(
        $(#[$doc])*
        pub(crate) fn $name(&self) -> PathBuf {
            self.$folder.join($file)
        }
    )*};
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

    below! {
        root:
        marker = STORE_MARKER,
        /// Held for the moment in which runs are made and removed.
        lock = "lock",
        runs = "runs",
        studies = "studies",
    }

    pub(crate) fn run(&self, id: &RunId) -> RunLayout {
        RunLayout { folder: self.runs().join(id.as_str()) }
    }

    pub(crate) fn study(&self, name: &str) -> PathBuf {
        self.studies().join(name)
    }

    /// The store whose runs or studies this folder is one of.
    pub(crate) fn around(folder: &Path) -> Self {
        Self::new(folder.parent().and_then(Path::parent).unwrap_or(folder))
    }

    /// Whether an entry of the root may stand there in a store that is just being made.
    pub(crate) fn is_ours(name: &str) -> bool {
        matches!(name, STORE_MARKER | "lock" | "runs" | "studies") || name.starts_with(TEMPORARY)
    }
}

/// The paths of a run.
#[derive(Clone, Debug)]
pub(crate) struct RunLayout {
    pub(crate) folder: PathBuf,
}

impl RunLayout {
    below! {
        folder:
        spec = "spec.json",
        about = "about.json",
        status = "status.json",
        history = "history.jsonl",
        checkpoint = "checkpoint.safetensors",
        predictions_folder = "predictions",
        events = "events",
        result = "result.json",
        lock = "lock",
    }

    pub(crate) fn weights(&self, which: Which) -> PathBuf {
        self.folder.join(format!("{}.safetensors", which.name()))
    }

    pub(crate) fn predictions(&self, which: Which) -> PathBuf {
        self.predictions_folder().join(format!("{}.npz", which.name()))
    }

    /// The name of a file in the run's folder, with slashes.
    pub(crate) fn name_of(&self, path: &Path) -> String {
        let inside = path.strip_prefix(&self.folder).unwrap_or(path);
        let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
        parts.join("/")
    }

    /// The files of a run that results are made of.
    pub(crate) fn of_results(&self) -> [PathBuf; 4] {
        let [best, last] = [Which::Best, Which::Last].map(|which| self.predictions(which));
        [self.history(), self.result(), best, last]
    }

    /// All files of a run, but for curves, that its status has the checksums of when it is finished.
    pub(crate) fn bound(&self) -> [PathBuf; 8] {
        let [history, result, predicted, at_end] = self.of_results();
        let [best, last] = [Which::Best, Which::Last].map(|which| self.weights(which));
        [self.spec(), self.about(), history, result, predicted, at_end, best, last]
    }

    /// Removes all that training leaves behind, the checkpoint first.
    pub(crate) fn clear(&self) -> Result<(), StoreError> {
        files::remove(&self.checkpoint())?;
        files::remove(&self.history())?;
        for which in [Which::Best, Which::Last] {
            files::remove(&self.weights(which))?;
            files::remove(&self.predictions(which))?;
        }
        files::remove(&self.events())
    }

    /// The files of a run that are carried between machines, by their names in its folder: not the
    /// checkpoint and the lock, and of the weights at most the best.
    pub(crate) fn is_carried(name: &str, best_weights: bool) -> bool {
        match name {
            "spec.json" | "about.json" | "status.json" | "history.jsonl" | "result.json" => true,
            "predictions/best.npz" | "predictions/last.npz" => true,
            "best.safetensors" => best_weights,
            other => other.strip_prefix("events/").is_some_and(is_plain),
        }
    }
}
