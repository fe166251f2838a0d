//! One process at a time.
//!
//! The lock is the operating system's, on a file: it goes when its process does, however that ends,
//! so no stale lock is ever left. The file stays; removing it would let two processes lock two files
//! of that name. File systems that know no locks give an error of the kind
//! [`io::ErrorKind::Unsupported`].

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek as _, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a lock is tried before it counts as held, and the pause between. A process that only
/// asks ([`Lock::is_held`]) holds it for an instant, which must not look like one that works.
const INSTANT: Duration = Duration::from_millis(200);
const PAUSE: Duration = Duration::from_millis(10);

/// A lock, held until it is dropped.
///
/// ```
/// use dissensus_io::Lock;
///
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("lock");
/// let held = Lock::take(&path)?;
/// assert!(held.is_some() && Lock::is_held(&path));
/// assert!(Lock::take(&path)?.is_none());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Waits for the lock.
    pub fn wait(path: &Path) -> io::Result<Self> {
        let file = open(path)?;
        loop {
            match file.lock() {
                Ok(()) => return Ok(Self { file }),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes the lock; `None` where another process holds it.
    pub fn take(path: &Path) -> io::Result<Option<Self>> {
        Self::take_within(path, INSTANT)
    }

    /// Takes the lock; `None` where another process holds it all that time.
    pub fn take_within(path: &Path, longest: Duration) -> io::Result<Option<Self>> {
        let file = open(path)?;
        let began = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Some(Self { file })),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if began.elapsed() >= longest => return Ok(None),
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE.min(longest)),
            }
        }
    }

    /// Whether a process holds the lock. Where that cannot be told (no permission, no such file),
    /// `false`.
    pub fn is_held(path: &Path) -> bool {
        let Ok(file) = File::open(path) else {
            return false;
        };
        match file.try_lock_shared() {
            Ok(()) => {
                let _ = file.unlock();
                false
            }
            Err(TryLockError::WouldBlock) => true,
            Err(TryLockError::Error(_)) => false,
        }
    }

    /// Writes this process's id into the file, for [`holder`](Self::holder).
    pub fn sign(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.rewind()?;
        write!(self.file, "{}", std::process::id())
    }

    /// The id of the process that last signed the file.
    pub fn holder(path: &Path) -> Option<u32> {
        std::fs::read_to_string(path).ok()?.trim().parse().ok()
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing would do, unless a child process of another thread has not yet closed its copy.
        let _ = self.file.unlock();
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_excludes_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        assert!(!Lock::is_held(&path));
        let mut held = Lock::take(&path).unwrap().unwrap();
        assert!(Lock::is_held(&path));
        assert!(Lock::take(&path).unwrap().is_none());
        assert!(Lock::take_within(&path, Duration::ZERO).unwrap().is_none());
        assert_eq!(Lock::holder(&path), None);
        held.sign().unwrap();
        assert_eq!(Lock::holder(&path), Some(std::process::id()));
        drop(held);
        assert!(!Lock::is_held(&path));
        assert!(Lock::take(&path).unwrap().is_some());
    }

    /// Asking whether a lock is held never makes taking it fail.
    #[test]
    fn asking_does_not_disturb() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        Lock::take(&path).unwrap();
        std::thread::scope(|scope| {
            let asker = scope.spawn(|| (0..2_000).filter(|_| Lock::is_held(&path)).count());
            // Longer than an instant: the thread that asks may be paused while it does.
            let take = || Lock::take_within(&path, Duration::from_secs(60)).unwrap();
            assert!((0..2_000).all(|_| take().is_some()));
            asker.join().unwrap();
        });
    }
}
