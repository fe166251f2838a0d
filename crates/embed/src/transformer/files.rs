//! The files of a model's folder.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::EmbedError;

/// A file of a folder, with its path.
pub(crate) fn read(folder: &Path, name: &str) -> Result<(PathBuf, Vec<u8>), EmbedError> {
    let path = folder.join(name);
    match std::fs::read(&path) {
        Ok(bytes) => Ok((path, bytes)),
        Err(source) => Err(EmbedError::File { path, source }),
    }
}

/// What a JSON file has.
pub(crate) fn json<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<T, EmbedError> {
    let (path, bytes) = read(folder, name)?;
    serde_json::from_slice(&bytes).map_err(|error| {
        let problem = format!("not the JSON that was expected: {error}");
        EmbedError::Model { path, problem }
    })
}

/// The same of a file that need not be there.
pub(crate) fn optional<T: DeserializeOwned>(
    folder: &Path,
    name: &str,
) -> Result<Option<T>, EmbedError> {
    if folder.join(name).exists() { json(folder, name).map(Some) } else { Ok(None) }
}

/// What `config.json` has, and what `check` makes of it.
pub(crate) fn config<C: DeserializeOwned, T>(
    folder: &Path,
    check: impl FnOnce(&C) -> Result<T, String>,
) -> Result<(C, T), EmbedError> {
    let name = "config.json";
    let config = json(folder, name)?;
    match check(&config) {
        Ok(checked) => Ok((config, checked)),
        Err(problem) => Err(EmbedError::Model { path: folder.join(name), problem }),
    }
}

/// In hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The last part of a path: what a model is called that is not known otherwise.
pub(crate) fn folder_name(folder: &Path) -> String {
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    whole.file_name().map_or_else(|| "model".to_owned(), |name| name.to_string_lossy().into_owned())
}
