//! Stored runs: lists of them, everything about one, and which are removed.

use std::path::{Path, PathBuf};

use dissensus_store::{Broken, Continued, RunId, RunInfo, State, Status, Store, StoreError};
use serde::{Deserialize as _, Serialize};
use serde_json::Value;

use crate::{EpochRow, RunResult, RunSpec};

/// The runs of a store.
#[derive(Debug, Default, Serialize)]
pub struct RunList {
    /// The store.
    pub store: PathBuf,
    /// Runs that can be read, the oldest first.
    pub runs: Vec<RunRow>,
    /// Runs that cannot be read.
    #[serde(serialize_with = "reasons")]
    pub broken: Vec<Broken>,
}

fn reasons<S: serde::Serializer>(broken: &[Broken], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Unread<'a> {
        id: Option<&'a RunId>,
        folder: &'a Path,
        reason: String,
    }
    serializer.collect_seq(broken.iter().map(|broken| Unread {
        id: broken.id.as_ref(),
        folder: &broken.folder,
        reason: broken.error.to_string(),
    }))
}

impl RunList {
    /// Lists the runs of a store.
    pub fn read(store: &Store) -> Result<Self, StoreError> {
        let (mut runs, broken) = store.each_run(|run| RunRow::read(&run))?;
        runs.sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
        Ok(Self { store: store.path().to_owned(), runs, broken })
    }

    /// The number of digits that distinguishes all ids, at least 8.
    pub fn id_digits(&self) -> usize {
        let broken = self.broken.iter().filter_map(|broken| broken.id.as_ref());
        unique_digits(
            self.runs.iter().map(|run| &run.id).chain(broken).map(RunId::as_str).collect(),
        )
    }
}

fn unique_digits(mut ids: Vec<&str>) -> usize {
    ids.sort_unstable();
    let shared =
        |pair: &[&str]| pair[0].bytes().zip(pair[1].bytes()).take_while(|(a, b)| a == b).count();
    ids.windows(2).map(|pair| shared(pair) + 1).max().unwrap_or(0).max(8)
}

/// Everything about a stored run.
#[derive(Clone, Debug, Serialize)]
pub struct RunDetails {
    /// Its id.
    pub id: RunId,
    /// Its label; `None` if its spec is of another version.
    pub label: Option<String>,
    /// What has become of it.
    #[serde(flatten)]
    pub status: Status,
    /// When it was begun, in seconds since 1970.
    pub created: u64,
    /// When it was continued.
    pub continued: Vec<Continued>,
    /// The code and the machine.
    pub about: Value,
    /// Its settings.
    pub spec: Value,
    /// Its result, if it is finished.
    pub result: Option<RunResult>,
    /// Its epochs.
    pub history: Vec<EpochRow>,
    /// Its folder.
    pub folder: PathBuf,
    /// The size of its files.
    pub size_bytes: u64,
    /// Its files.
    pub files: Vec<RunFile>,
}

impl RunDetails {
    /// Reads everything about a run.
    pub fn read(run: &RunInfo) -> Result<Self, StoreError> {
        Ok(Self {
            id: run.id.clone(),
            label: run_label(run),
            status: run.status.clone(),
            created: run.created,
            continued: run.continued.clone(),
            about: run.about.clone(),
            spec: run.spec.clone(),
            result: run.result()?,
            history: run.history()?,
            folder: run.folder.clone(),
            size_bytes: run.size_bytes(),
            files: run_files(&run.folder),
        })
    }
}

fn run_label(run: &RunInfo) -> Option<String> {
    RunSpec::deserialize(&run.spec).ok().map(|spec| spec.label())
}

/// A run to be removed.
#[derive(Clone, Debug)]
pub struct Removal {
    /// Its id.
    pub id: RunId,
    /// Its label, or what is wrong with it.
    pub label: String,
    /// The size of its files.
    pub bytes: u64,
}

impl Removal {
    /// The runs of these ids or prefixes of ids, and with `failed` all that failed, each once. It is
    /// an error if one of them is being trained.
    pub fn choose(store: &Store, ids: &[String], failed: bool) -> Result<Vec<Self>, StoreError> {
        let mut chosen =
            ids.iter().map(|prefix| store.resolve(prefix)).collect::<Result<Vec<_>, _>>()?;
        let listing = store.runs()?;
        if failed {
            let failed = |run: &&RunInfo| matches!(run.status.state, State::Failed { .. });
            chosen.extend(listing.runs.iter().filter(failed).map(|run| run.id.clone()));
        }
        let mut removals: Vec<Self> = Vec::new();
        for id in chosen {
            if removals.iter().any(|run| run.id == id) {
                continue;
            }
            let known = listing.runs.iter().find(|run| run.id == id);
            if let Some(run) = known.filter(|run| run.status.state == State::Running) {
                return Err(StoreError::Locked { id, process: Some(run.status.process) });
            }
            let broken = listing.broken.iter().find(|run| run.id.as_ref() == Some(&id));
            let folder = known.map(|run| &run.folder).or(broken.map(|broken| &broken.folder));
            let files = folder.map_or(Vec::new(), |folder| run_files(folder));
            let label = match known {
                Some(run) => {
                    run_label(run).unwrap_or_else(|| "a spec of another version".to_owned())
                }
                None => "broken".to_owned(),
            };
            removals.push(Self { id, label, bytes: files.iter().map(|file| file.bytes).sum() });
        }
        Ok(removals)
    }
}

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
    /// Why its spec cannot be understood: it is of another version.
    #[serde(skip)]
    pub foreign: Option<String>,
}

impl RunRow {
    /// Reads the row of a run.
    pub fn read(run: &RunInfo) -> Result<Self, StoreError> {
        let spec = RunSpec::deserialize(&run.spec);
        let foreign = spec.as_ref().err().map(ToString::to_string);
        let spec = spec.ok();
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
            foreign,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_as_long_as_it_takes() {
        assert_eq!(unique_digits(vec![]), 8);
        assert_eq!(unique_digits(vec!["0123456789abcdef"]), 8);
        assert_eq!(unique_digits(vec!["0123456789abcdef", "f123456789abcdef"]), 8);
        let near = ["0123456789abcdef", "ffffffffffffffff", "01234567890bcdef"];
        assert_eq!(unique_digits(near.to_vec()), 11);
    }
}
