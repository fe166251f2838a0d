//! A pack's runs and studies moved into a store.
//!
//! Runs are moved one by one, each by a rename: killed in between, the store has some of them, whole,
//! and unpacking again adds the others. An unfinished run steps aside before the finished one takes
//! its place; killed just there, it is gone, and unpacking again adds the finished one.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::Manifest;
use crate::layout::{StoreLayout, run_of_artifact};
use crate::lock;
use crate::older::BOUND;
use crate::study::{RECORD, unsealed};
use crate::{RunId, RunInfo, State, Store, StoreError, Which, files};

/// What became of the runs and studies of a pack, each list sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unpacked {
    /// Runs that were not there.
    pub added: Vec<RunId>,
    /// Runs that were there unfinished, and are now the pack's finished ones.
    pub replaced: Vec<RunId>,
    /// Runs that were there, finished with the same predictions, or no worse than the pack's.
    pub kept: Vec<RunId>,
    /// Runs that are finished in both, with different predictions. Those that were there stay.
    pub differing: Vec<RunId>,
    /// Unfinished runs that a process is training, or that cannot be read; they stay. With the
    /// reason.
    pub left: Vec<(RunId, String)>,
    /// Studies of the pack.
    pub studies: Vec<StudyMerge>,
}

/// What became of a study's files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StudyMerge {
    /// The study.
    pub name: String,
    /// How many of its files were not there.
    pub added: usize,
    /// Files that are there with other bytes, and stay. Results among them are put right by
    /// collecting them again from the runs.
    pub differing: Vec<String>,
}

/// Moves what lies in `staging` into the store.
pub(super) fn merge(
    store: &Store,
    staging: &Path,
    manifest: &Manifest,
    pack: &Path,
) -> Result<Unpacked, StoreError> {
    let new = StoreLayout::new(staging);
    // All are read before one is moved: a run that is not what it says it is spoils the pack.
    let mut runs = Vec::new();
    for id in &manifest.runs {
        let id: RunId = id.parse()?;
        let reason = match RunInfo::read(new.run(&id), id.clone()) {
            Err(error) => Some(error.to_string()),
            Ok(run) if !run.is_bound() && manifest.format >= BOUND => {
                Some("it is older than the pack".to_owned())
            }
            Ok(run) => match run.status.state {
                State::Finished => {
                    let result = run.result::<serde_json::Value>();
                    result.and_then(|_| run.verify(true)).err().map(|error| error.to_string())
                }
                State::Failed { .. } => None,
                State::Running | State::Interrupted => Some("it has not ended".to_owned()),
            }
            .or_else(|| {
                runs.push(run);
                None
            }),
        };
        if let Some(reason) = reason {
            let reason = format!("its run {id}: {reason}");
            return Err(StoreError::Pack { path: pack.to_owned(), reason });
        }
    }
    runs.sort_by(|a, b| a.id.cmp(&b.id));
    let folder = store.layout.runs();
    fs::create_dir_all(&folder).map_err(|error| StoreError::io("making", &folder, error))?;
    if manifest.format < BOUND {
        store.admit_older()?;
    }
    let mut unpacked = Unpacked::default();
    for run in runs {
        one(store, &run, &mut unpacked)?;
    }
    files::sync_folder(&folder)?;
    unpacked.studies = studies(store, &new)?;
    Ok(unpacked)
}

fn one(store: &Store, new: &RunInfo, unpacked: &mut Unpacked) -> Result<(), StoreError> {
    let id = new.id.clone();
    let there = store.layout.run(&id);
    // As long as this is held, no run is begun or removed.
    let making = lock::wait(&store.layout.lock())?;
    let finished = new.status.state == State::Finished;
    let old = match store.get(&id) {
        Ok(None) => {
            rename(&new.folder, &there.folder)?;
            unpacked.added.push(id);
            return Ok(());
        }
        Ok(Some(old)) => old,
        Err(error) => {
            unpacked.left.push((id, error.to_string()));
            return Ok(());
        }
    };
    if old.status.state == State::Finished {
        match !finished || same(&old, new) {
            true => unpacked.kept.push(id),
            false => unpacked.differing.push(id),
        }
        return Ok(());
    }
    if !finished {
        unpacked.kept.push(id);
        return Ok(());
    }
    let Some(held) = lock::take(&there.lock())? else {
        unpacked.left.push((id.clone(), store.locked(&id).to_string()));
        return Ok(());
    };
    let aside = store.aside(&id);
    rename(&there.folder, &aside)?;
    rename(&new.folder, &there.folder)?;
    unpacked.replaced.push(id);
    drop((held, making));
    files::remove(&aside)
}

/// Whether two runs predict the same, to the bit. What cannot be read is not the same.
fn same(old: &RunInfo, new: &RunInfo) -> bool {
    [Which::Best, Which::Last].into_iter().all(|which| {
        match (old.predictions(which), new.predictions(which)) {
            (Ok(old), Ok(new)) => old == new,
            _ => false,
        }
    })
}

fn rename(from: &Path, to: &Path) -> Result<(), StoreError> {
    fs::rename(from, to).map_err(|error| StoreError::io("moving", to, error))
}

/// Files that are not there are added; those that are stay.
fn studies(store: &Store, new: &StoreLayout) -> Result<Vec<StudyMerge>, StoreError> {
    let mut merges = Vec::new();
    for name in files::names(&new.studies())? {
        let study = store.study(&name)?;
        let mut merge = StudyMerge { name: name.clone(), ..StudyMerge::default() };
        let mut names = Vec::new();
        crate::study::list(&new.study(&name), "", &mut names)?;
        // A file and its record come from one side, and no run is removed meanwhile.
        let _alone = lock::wait(&store.layout.lock())?;
        let mut there = BTreeSet::new();
        for file in names {
            let from = file.split('/').fold(new.study(&name), |path, part| path.join(part));
            let bytes = files::read(&from)?;
            if let Some(run) = run_of_artifact(&file)
                && !store.is_there(&run)?
            {
                continue;
            }
            let (old, made) = (study.read(&file)?, file.strip_suffix(RECORD));
            there.extend(old.is_some().then(|| file.clone()));
            match old {
                // The record of another file than the pack's would be wrong.
                None if made.is_some_and(|made| there.contains(made)) => {}
                None => {
                    study.write(&file, &bytes, crate::Durability::Process)?;
                    merge.added += 1;
                }
                Some(old) if unsealed(&old).1 != unsealed(&bytes).1 => merge.differing.push(file),
                Some(_) => {}
            }
        }
        merge.differing.sort_unstable();
        merges.push(merge);
    }
    Ok(merges)
}
