//! One process at a time.
//!
//! The lock is the operating system's, on an empty file: it goes when its process does, however
//! that ends, so no stale lock is ever left. The file stays; removing it would let two processes
//! lock two files of that name.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use fs4::{FileExt, TryLockError};

use crate::StoreError;

/// How often a lock is tried before it counts as held, and the pause between. Who only asks
/// ([`is_held`]) holds it for an instant, which must not look like a training process.
const TRIES: usize = 20;
const PAUSE: Duration = Duration::from_millis(10);

/// Held until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
}

impl Lock {
    /// Waits for the lock.
    pub(crate) fn wait(path: &Path) -> Result<Self, StoreError> {
        let file = open(path)?;
        loop {
            match FileExt::lock(&file) {
                Ok(()) => return Ok(Self { file }),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(path, error)),
            }
        }
    }

    /// Takes the lock; `None` where another process holds it.
    pub(crate) fn take(path: &Path) -> Result<Option<Self>, StoreError> {
        let file = open(path)?;
        for _ in 0..TRIES {
            match FileExt::try_lock(&file) {
                Ok(()) => return Ok(Some(Self { file })),
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
                Err(TryLockError::Error(error)) => return Err(failed(path, error)),
            }
        }
        Ok(None)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing would do, unless a child process of another thread has not yet closed its copy.
        let _ = FileExt::unlock(&self.file);
    }
}

/// Whether a process holds the lock. Where that cannot be told (no permission, no such file), not.
pub(crate) fn is_held(path: &Path) -> bool {
    let Ok(file) = File::open(path) else {
        return false;
    };
    match FileExt::try_lock_shared(&file) {
        Ok(()) => {
            let _ = FileExt::unlock(&file);
            false
        }
        Err(TryLockError::WouldBlock) => true,
        Err(TryLockError::Error(_)) => false,
    }
}

fn open(path: &Path) -> Result<File, StoreError> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(|error| StoreError::io("opening", path, error))
}

fn failed(path: &Path, error: std::io::Error) -> StoreError {
    match error.kind() {
        ErrorKind::Unsupported => StoreError::NoLocks { path: path.to_owned() },
        _ => StoreError::io("locking", path, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_excludes_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        assert!(!is_held(&path));
        let held = Lock::take(&path).unwrap();
        assert!(held.is_some() && is_held(&path));
        assert!(Lock::take(&path).unwrap().is_none());
        drop(held);
        assert!(!is_held(&path));
        assert!(Lock::take(&path).unwrap().is_some());
    }

    /// Asking whether a lock is held never makes taking it fail.
    #[test]
    fn asking_does_not_disturb() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        Lock::take(&path).unwrap();
        std::thread::scope(|scope| {
            let asker = scope.spawn(|| (0..2_000).filter(|_| is_held(&path)).count());
            let taken = (0..2_000).filter(|_| Lock::take(&path).unwrap().is_some()).count();
            assert_eq!(taken, 2_000);
            asker.join().unwrap();
        });
    }
}
