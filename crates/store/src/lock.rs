//! The store's locks: those of [`dissensus_io::Lock`], with the store's errors.

use std::io::ErrorKind;
use std::path::Path;

use dissensus_io::Lock;

use crate::StoreError;

/// Waits for a lock.
pub(crate) fn wait(path: &Path) -> Result<Lock, StoreError> {
    Lock::wait(path).map_err(|error| failed(path, error))
}

/// Takes a lock; `None` where another process holds it.
pub(crate) fn take(path: &Path) -> Result<Option<Lock>, StoreError> {
    Lock::take(path).map_err(|error| failed(path, error))
}

fn failed(path: &Path, error: std::io::Error) -> StoreError {
    match error.kind() {
        ErrorKind::Unsupported => StoreError::NoLocks { path: path.to_owned() },
        _ => StoreError::io("locking", path, error),
    }
}
