//! One writer at a time. The lock is the operating system's and goes with its process; the empty
//! file stays, since removing it would let two processes lock two files of that name.

use std::fs::{File, OpenOptions};
use std::path::Path;
use std::time::{Duration, Instant};

use fs4::{FileExt, TryLockError};

use super::CacheError;

const POLL: Duration = Duration::from_millis(5);
/// Appending takes milliseconds.
const LONGEST: Duration = Duration::from_secs(120);

/// Held until it is dropped.
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    pub(super) fn take(path: &Path) -> Result<Self, CacheError> {
        Self::take_within(path, LONGEST)
    }

    fn take_within(path: &Path, longest: Duration) -> Result<Self, CacheError> {
        let io = |what, source| CacheError::Io { what, path: path.to_owned(), source };
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(|e| io("opening", e))?;
        let began = Instant::now();
        loop {
            match FileExt::try_lock(&file) {
                Ok(()) => break,
                // Some network file systems know no locks; there we do without.
                Err(TryLockError::Error(e)) if e.kind() == std::io::ErrorKind::Unsupported => break,
                Err(TryLockError::Error(e)) => return Err(io("locking", e)),
                Err(TryLockError::WouldBlock) if began.elapsed() > longest => {
                    return Err(CacheError::Busy { lock: path.to_owned() });
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(POLL),
            }
        }
        Ok(Self { _file: file })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn a_second_taker_waits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.lock");
        let first = Lock::take(&path).unwrap();
        let second = Lock::take_within(&path, Duration::from_millis(20));
        assert!(matches!(second, Err(CacheError::Busy { .. })));
        drop(first);
        Lock::take_within(&path, Duration::ZERO).unwrap();
    }
}
