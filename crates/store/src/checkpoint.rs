//! What a run continues from: one file, replaced whole.
//!
//! The tensors (weights, and what the optimizer remembers) are the file's; the epoch, the state
//! and the history travel in its metadata. So no kill can leave tensors of one epoch beside the
//! state of another. It says whose it is, and has the checksums of the files of the best epoch, which
//! the run that continues from it need not write again.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::status::Checksums;
use crate::weights::HEAD_LIMIT;
use crate::{Durability, FORMAT, RunId, StoreError, Tensors, files, weights};

/// A run after a whole number of epochs.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint<'a> {
    /// Epochs done.
    pub epoch: u64,
    /// Weights and whatever else is many numbers.
    pub tensors: Tensors<'a>,
    /// Whatever is not: counters, the best epoch so far, the caller's own.
    pub state: Value,
    /// One object an epoch done.
    pub history: Vec<Value>,
}

#[derive(Serialize)]
struct NoteOut<'a> {
    format: u64,
    run: &'a RunId,
    checksums: &'a Checksums,
    epoch: u64,
    state: &'a Value,
    history: &'a [Value],
}

#[derive(Deserialize)]
struct Version {
    format: u64,
}

#[derive(Deserialize)]
struct NoteIn {
    #[serde(default)]
    run: Option<String>,
    #[serde(default)]
    checksums: Checksums,
    epoch: u64,
    state: Value,
    history: Vec<Value>,
}

impl Checkpoint<'_> {
    /// Writes it, with the checksums of the files of the best epoch.
    pub(crate) fn write(
        &self,
        path: &Path,
        run: &RunId,
        checksums: &Checksums,
    ) -> Result<(), StoreError> {
        let (epoch, state, history) = (self.epoch, &self.state, &self.history[..]);
        let note = NoteOut { format: FORMAT, run, checksums, epoch, state, history };
        let note = serde_json::to_string(&note)
            .map_err(|error| StoreError::Json { path: path.to_owned(), error })?;
        write_tensors(path, &self.tensors, Some(&note), None, Durability::Process).map(drop)
    }

    /// The checkpoint in a file, and the checksums of the files of the best epoch; `None` where there is
    /// none. That of an older run does not say whose it is.
    pub(crate) fn read(
        path: &Path,
        id: &RunId,
        is_bound: bool,
    ) -> Result<Option<(Checkpoint<'static>, Checksums)>, StoreError> {
        let damaged = |reason: String| {
            let (id, path) = (id.clone(), path.to_owned());
            StoreError::Checkpoint { id, path, reason }
        };
        let Some(bytes) = files::read_if_there(path)? else {
            return Ok(None);
        };
        let (tensors, note, _) = weights::read(&bytes).map_err(damaged)?;
        let Some(note) = note else {
            return Err(damaged("it holds tensors but no state".to_owned()));
        };
        let json = |error: serde_json::Error| damaged(format!("its state: {error}"));
        let Version { format } = serde_json::from_str(&note).map_err(json)?;
        if format > FORMAT {
            return Err(StoreError::Newer { path: path.to_owned(), found: format });
        }
        let NoteIn { run, checksums, epoch, state, history } =
            serde_json::from_str(&note).map_err(json)?;
        match run {
            Some(run) if run != id.as_str() => {
                return Err(StoreError::foreign(path, format!("it is of run {run}")));
            }
            None if is_bound => {
                return Err(StoreError::foreign(path, "it does not say whose it is"));
            }
            _ => {}
        }
        Ok(Some((Checkpoint { epoch, tensors, state, history }, checksums)))
    }
}

/// The bytes of a `.safetensors` file of tensors and a note, with a checksum of both.
pub fn tensor_bytes(tensors: &Tensors<'_>, note: &str) -> Vec<u8> {
    let mut bytes = weights::head(tensors, Some(note), None);
    // A write into memory cannot fail.
    let _ = weights::write_values(tensors, &mut bytes);
    bytes
}

/// The tensors and the note in bytes that [`tensor_bytes`] made; or what is wrong with them.
pub fn read_tensor_bytes(bytes: &[u8]) -> Result<(Tensors<'static>, String), String> {
    let (tensors, note, _) = weights::read(bytes)?;
    Ok((tensors, note.ok_or("it holds tensors without a note")?))
}

/// Writes tensors, with a note or plain, and gives the SHA-256 of the file.
pub(crate) fn write_tensors(
    path: &Path,
    tensors: &Tensors<'_>,
    note: Option<&str>,
    run: Option<&RunId>,
    durability: Durability,
) -> Result<String, StoreError> {
    let head = weights::head(tensors, note, run);
    if head.len() > HEAD_LIMIT {
        let (path, bytes, limit) = (path.to_owned(), head.len(), HEAD_LIMIT);
        return Err(StoreError::HeadTooLarge { path, bytes, limit });
    }
    files::replace_hashed(path, durability, |out| {
        out.write_all(&head)?;
        weights::write_values(tensors, out)
    })
}
