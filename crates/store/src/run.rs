//! What anyone may read of a run.

use std::path::{Path, PathBuf};

use dissensus_io::Lock;
use dissensus_predictions::LogitsError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::layout::RunLayout;
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
}

impl RunInfo {
    pub(crate) fn read(layout: RunLayout, id: RunId) -> Result<Self, StoreError> {
        let About { digest, created, about, continued, .. } = About::read(&layout)?;
        let spec: Value = files::read_json(&layout.spec())?;
        let found = canonical::digest(&spec);
        if found != digest || RunId::of_digest(&found) != id {
            let expected = if found == digest { format!("{id}…") } else { digest };
            return Err(StoreError::Digest { path: layout.spec(), id, expected, found });
        }
        let read = || match status::read(&layout) {
            // The checkpoint knows as much: see `rebuilt`.
            Err(error) if error.is_damage() => {
                Ok((rebuilt(&layout, &id).ok_or(error)?, Checksums::new()))
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
        let folder = layout.folder.clone();
        Ok(Self { id, spec, about, created, continued, status, folder, layout, checksums })
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
        weights::read_file(&self.layout.weights(which))
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

    /// Reads all files that have a checksum, and says which is not as it was written.
    pub(crate) fn verify(&self) -> Result<(), StoreError> {
        self.layout.of_results().iter().try_for_each(|path| self.checked(path).map(drop))
    }

    /// A file's bytes, checked where the run's status has a checksum.
    fn checked(&self, path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
        files::read_checked(path, self.checksums.get(&self.layout.name_of(path)))
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
fn rebuilt(layout: &RunLayout, id: &RunId) -> Option<Status> {
    let epoch = match Checkpoint::read(&layout.checkpoint(), id).ok()? {
        Some(checkpoint) => checkpoint.epoch,
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
