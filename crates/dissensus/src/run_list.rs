//! Stored runs for lists: one row per run, and the files of a run.

use std::path::{Path, PathBuf};

use dissensus_store::{RunId, RunInfo, State, StoreError};
use dissensus_train::{RunResult, RunSpec};
use serde::Serialize;

/// A stored run in a list. What is not known is `None`.
#[derive(Clone, Debug, Serialize)]
pub struct RunRow {
    /// Its id.
    pub id: RunId,
    /// The delivery method and the number of votes.
    pub arm: Option<String>,
    /// The dataset.
    pub data: Option<String>,
    /// The seed.
    pub seed: Option<u64>,
    /// `running`, `interrupted`, `finished` or `failed`.
    pub state: &'static str,
    /// Why it failed.
    pub reason: Option<String>,
    /// How many epochs are done.
    pub epoch: u64,
    /// How many epochs it has.
    pub planned: u64,
    /// Of the selected epoch, on the reported part.
    pub soft_nll: Option<f64>,
    /// Of the selected epoch, on the reported part.
    pub accuracy: Option<f64>,
    /// When it was begun, in seconds since 1970.
    pub created: u64,
    /// The size of its files.
    pub size_bytes: u64,
    /// Its folder.
    pub folder: PathBuf,
}

impl RunRow {
    /// Reads the row of a run.
    pub fn read(run: &RunInfo) -> Result<Self, StoreError> {
        let spec: Option<RunSpec> = serde_json::from_value(run.spec.clone()).ok();
        let result: RunResult = run.result()?.unwrap_or_default();
        let best = |metric: &str| result.reported().and_then(|(_, part)| part.best.get(metric));
        let reason = match &run.status.state {
            State::Failed { reason } => Some(reason.clone()),
            _ => None,
        };
        Ok(Self {
            id: run.id.clone(),
            arm: spec.as_ref().map(RunSpec::arm),
            data: spec.as_ref().map(|spec| spec.data.name.clone()),
            seed: spec.as_ref().map(|spec| spec.run.seed),
            state: state_name(&run.status.state),
            reason,
            epoch: run.status.epoch,
            planned: run.status.planned,
            soft_nll: best("soft_nll"),
            accuracy: best("accuracy"),
            created: run.created,
            size_bytes: run.size_bytes(),
            folder: run.folder.clone(),
        })
    }
}

/// The state of a run in one word.
pub fn state_name(state: &State) -> &'static str {
    match state {
        State::Running => "running",
        State::Interrupted => "interrupted",
        State::Finished => "finished",
        State::Failed { .. } => "failed",
    }
}

/// A file of a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct RunFile {
    /// Its path.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
}

/// The files in a run's folder and the folders below it, sorted, without temporary files.
pub fn run_files(folder: &Path) -> Vec<RunFile> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            // A file may be removed at any time.
            let Ok(metadata) = entry.path().symlink_metadata() else { continue };
            match metadata.is_dir() {
                true => folders.push(entry.path()),
                false if entry.file_name().to_string_lossy().starts_with('.') => {}
                false => found.push(RunFile { path: entry.path(), bytes: metadata.len() }),
            }
        }
    }
    found.sort();
    found
}
