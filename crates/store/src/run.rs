//! What anyone may read of a run.

use std::path::{Path, PathBuf};

use dissensus_io::Lock;
use dissensus_predictions::LogitsError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::layout::{RunLayout, StoreLayout};
use crate::older::{self, BOUND};
use crate::status::Checksums;
use crate::{
    Checkpoint, Logits, RunId, State, Status, StoreError, Tensors, Which, canonical, files, status,
    weights,
};

/// That a run was taken up again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Continued {
    /// When, in seconds since 1970.
    pub at: u64,
    /// What the caller said of the code and the machine then.
    pub about: Value,
}

/// What `about.json` holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct About {
    pub(crate) format: u64,
    /// The full digest of the spec.
    pub(crate) digest: String,
    pub(crate) created: u64,
    pub(crate) about: Value,
    #[serde(default)]
    pub(crate) continued: Vec<Continued>,
}

impl About {
    pub(crate) fn read(layout: &RunLayout) -> Result<Self, StoreError> {
        files::read_versioned(&layout.about())
    }

    /// With the checksum of its file.
    fn with_checksum(layout: &RunLayout) -> Result<(Self, String), StoreError> {
        let path = layout.about();
        let bytes = files::read(&path)?;
        Ok((files::versioned(&path, &bytes)?, files::sha256(&bytes)))
    }
}

/// A run as it was when it was looked at.
#[derive(Clone, Debug)]
pub struct RunInfo {
    /// Its name.
    pub id: RunId,
    /// The resolved spec.
    pub spec: Value,
    /// What the caller said of the code and the machine when the run was first begun.
    pub about: Value,
    /// When that was, in seconds since 1970.
    pub created: u64,
    /// When it was taken up again, by which code.
    pub continued: Vec<Continued>,
    /// How far it is. A run that says it is running but is not locked was interrupted.
    pub status: Status,
    /// Where it lies.
    pub folder: PathBuf,
    layout: RunLayout,
    checksums: Checksums,
    is_bound: bool,
}

impl RunInfo {
    pub(crate) fn read(layout: RunLayout, id: RunId) -> Result<Self, StoreError> {
        match Self::read_once(&layout, &id) {
            // Another process may have taken it up and ended it between two files.
            Err(error) if error.is_damage() => Self::read_once(&layout, &id),
            read => read,
        }
    }

    fn read_once(layout: &RunLayout, id: &RunId) -> Result<Self, StoreError> {
        let (layout, id) = (layout.clone(), id.clone());
        let (About { format, digest, created, about, continued }, sha256) =
            About::with_checksum(&layout)?;
        let is_bound = format >= BOUND;
        if !is_bound {
            older::accept(&layout.about(), &StoreLayout::around(&layout.folder))?;
        }
        let spec: Value = files::read_json(&layout.spec())?;
        let found = canonical::digest(&spec);
        if found != digest || RunId::of_digest(&found) != id {
            let expected = if found == digest { format!("{id}…") } else { digest };
            return Err(StoreError::Digest { path: layout.spec(), id, expected, found });
        }
        let read = || match status::read(&layout, is_bound.then_some(&id)) {
            // The checkpoint knows as much: see `rebuilt`.
            Err(error) if error.is_damage() => {
                Ok((rebuilt(&layout, &id, is_bound).ok_or(error)?, Checksums::new()))
            }
            read => read,
        };
        let (mut status, mut checksums) = read()?;
        if status.state == State::Running && !Lock::is_held(&layout.lock()) {
            // It may have ended since, and has then written how.
            (status, checksums) = read()?;
            if status.state == State::Running {
                status.state = State::Interrupted;
            }
        }
        if is_bound && status.state == State::Finished {
            let path = layout.about();
            match checksums.get(&layout.name_of(&path)) {
                Some(expected) if *expected == sha256 => {}
                Some(expected) => {
                    return Err(StoreError::Damaged {
                        path,
                        expected: expected.clone(),
                        found: sha256,
                    });
                }
                None => {
                    let reason = "it says that the run is finished, and not what its files are";
                    return Err(StoreError::foreign(&layout.status(), reason));
                }
            }
        }
        let folder = layout.folder.clone();
        Ok(Self {
            id,
            spec,
            about,
            created,
            continued,
            status,
            folder,
            layout,
            checksums,
            is_bound,
        })
    }

    /// Whether its files are bound to it; not those of a run that an older version made.
    pub(crate) fn is_bound(&self) -> bool {
        self.is_bound
    }

    /// One row per epoch, in order, as the type that the caller wrote.
    pub fn history<R: DeserializeOwned>(&self) -> Result<Vec<R>, StoreError> {
        let path = self.layout.history();
        let Some(bytes) = self.checked(&path)? else {
            return Ok(Vec::new());
        };
        let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| files::parse(&path, line)).collect()
    }

    /// The weights of the selected epoch, or at the end; `None` where there are none yet.
    pub fn weights(&self, which: Which) -> Result<Option<Tensors<'static>>, StoreError> {
        let path = self.layout.weights(which);
        // They may have been deleted, or left out of a pack.
        let Some(bytes) = files::read_if_there(&path)? else { return Ok(None) };
        self.check(&path, &bytes)?;
        weights::read_weights(&path, &bytes, self.is_bound.then_some(&self.id)).map(Some)
    }

    /// What the model of the selected epoch, or the last one, predicts; `None` where nothing yet.
    pub fn predictions(&self, which: Which) -> Result<Option<Logits<'static>>, StoreError> {
        let path = self.layout.predictions(which);
        let Some(bytes) = self.checked(&path)? else {
            return Ok(None);
        };
        let wrong =
            |error: LogitsError| StoreError::Predictions { path, reason: error.to_string() };
        Logits::from_npz(bytes).map(Some).map_err(wrong)
    }

    /// The digest of what the run predicts, at the selected epoch and at the end: what is computed
    /// from predictions is right as long as this is the same.
    pub fn predictions_digest(&self) -> Result<String, StoreError> {
        let mut digests = Vec::new();
        for which in [Which::Best, Which::Last] {
            let path = self.layout.predictions(which);
            digests.push(match self.checksums.get(&self.layout.name_of(&path)) {
                Some(known) => known.clone(),
                None => files::sha256(&files::read_if_there(&path)?.unwrap_or_default()),
            });
        }
        Ok(files::sha256(digests.join(" ").as_bytes()))
    }

    /// The result, as the type that the caller wrote; `None` unless the run is finished.
    pub fn result<R: DeserializeOwned>(&self) -> Result<Option<R>, StoreError> {
        let path = self.layout.result();
        match self.status.state {
            State::Finished => {
                let bytes = self.checked(&path)?;
                files::parse(&path, &bytes.unwrap_or_default()).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Reads all files that results depend on, and says which is not as it was written, or gone. Weights may
    /// be gone.
    pub(crate) fn verify(&self, with_weights: bool) -> Result<(), StoreError> {
        for path in self.layout.of_results() {
            let there = self.checked(&path)?.is_some();
            let needed = path == self.layout.predictions(Which::Best) && !self.is_bound;
            if self.status.state == State::Finished && needed && !there {
                return Err(StoreError::Gone { path });
            }
        }
        if with_weights { self.weights(Which::Best).map(drop) } else { Ok(()) }
    }

    /// A file's bytes, checked where the run's status has a checksum.
    fn checked(&self, path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(bytes) = files::read_if_there(path)? else {
            return match self.checksums.contains_key(&self.layout.name_of(path)) {
                true => Err(StoreError::Gone { path: path.to_owned() }),
                false => Ok(None),
            };
        };
        self.check(path, &bytes)?;
        Ok(Some(bytes))
    }

    /// That bytes are those that the run has written, as far as its status knows. That of a finished run
    /// knows all.
    fn check(&self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        match self.checksums.get(&self.layout.name_of(path)) {
            Some(expected) => files::check(path, bytes, expected),
            None if self.is_bound && self.status.state == State::Finished => {
                Err(StoreError::foreign(path, "its run did not write it"))
            }
            None => Ok(()),
        }
    }

    /// The file of the weights, for other programs; it may not exist yet.
    pub fn weights_path(&self, which: Which) -> PathBuf {
        self.layout.weights(which)
    }

    /// The file of the predictions, for other programs; it may not exist yet.
    pub fn predictions_path(&self, which: Which) -> PathBuf {
        self.layout.predictions(which)
    }

    /// What the run takes on the disk. Files that vanish meanwhile count as nothing.
    pub fn size_bytes(&self) -> u64 {
        size(&self.folder)
    }
}

/// What a run comes to whose status is damaged: with a good checkpoint it continues there, and with
/// neither a checkpoint nor a result it starts anew. `None` for what may have been finished, whose
/// checksums were in the status.
fn rebuilt(layout: &RunLayout, id: &RunId, is_bound: bool) -> Option<Status> {
    let epoch = match Checkpoint::read(&layout.checkpoint(), id, is_bound).ok()? {
        Some((checkpoint, _)) => checkpoint.epoch,
        None if !layout.result().exists() => 0,
        None => return None,
    };
    let (state, planned) = (State::Running, epoch);
    Some(Status { state, epoch, planned, updated: files::now(), process: 0 })
}

fn size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let bytes = |entry: std::fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => size(&entry.path()),
        _ => entry.metadata().map_or(0, |metadata| metadata.len()),
    };
    entries.map(bytes).sum()
}
