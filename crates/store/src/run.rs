//! What anyone may read of a run.

use std::path::{Path, PathBuf};

use dissensus_io::Lock;
use dissensus_predictions::LogitsError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::layout::RunLayout;
use crate::{Logits, RunId, State, Status, StoreError, Tensors, Which, canonical, files, weights};

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
        // The lock is asked first: a run that ends in between has then written how it ended.
        let held = Lock::is_held(&layout.lock());
        let mut status: Status = files::read_json(&layout.status())?;
        if status.state == State::Running && !held {
            status.state = State::Interrupted;
        }
        let folder = layout.folder.clone();
        Ok(Self { id, spec, about, created, continued, status, folder, layout })
    }

    /// One row per epoch, in order, as the type that the caller wrote.
    pub fn history<R: DeserializeOwned>(&self) -> Result<Vec<R>, StoreError> {
        let path = self.layout.history();
        let Some(bytes) = files::read_if_there(&path)? else {
            return Ok(Vec::new());
        };
        let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| files::parse(&path, line)).collect()
    }

    /// The weights of the selected epoch; `None` where there are none yet.
    pub fn best_weights(&self) -> Result<Option<Tensors<'static>>, StoreError> {
        self.weights(Which::Best)
    }

    /// The weights at the end; `None` where it has not come.
    pub fn last_weights(&self) -> Result<Option<Tensors<'static>>, StoreError> {
        self.weights(Which::Last)
    }

    /// Either of them.
    pub fn weights(&self, which: Which) -> Result<Option<Tensors<'static>>, StoreError> {
        weights::read_file(&self.layout.weights(which))
    }

    /// What the model of the selected epoch, or the last one, predicts; `None` where nothing yet.
    pub fn predictions(&self, which: Which) -> Result<Option<Logits<'static>>, StoreError> {
        let path = self.layout.predictions(which);
        let Some(bytes) = files::read_if_there(&path)? else {
            return Ok(None);
        };
        let wrong =
            |error: LogitsError| StoreError::Predictions { path, reason: error.to_string() };
        Logits::from_npz(bytes).map(Some).map_err(wrong)
    }

    /// The result, as the type that the caller wrote; `None` unless the run is finished.
    pub fn result<R: DeserializeOwned>(&self) -> Result<Option<R>, StoreError> {
        match self.status.state {
            State::Finished => files::read_json(&self.layout.result()).map(Some),
            _ => Ok(None),
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

fn size(path: &Path) -> u64 {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => {
            let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
            entries.map(|entry| size(&entry.path())).sum()
        }
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    }
}
