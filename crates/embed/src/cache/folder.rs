//! The folder of a cache.

use std::path::{Path, PathBuf};

use super::CacheError;

/// A folder of vectors, with a file for every encoder.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// A cache in this folder, which is made if it is not there.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, CacheError> {
        let folder = folder.into();
        std::fs::create_dir_all(&folder).map_err(|source| CacheError::Io {
            what: "creating",
            path: folder.clone(),
            source,
        })?;
        Ok(Self { folder })
    }

    /// Where it lies.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}
