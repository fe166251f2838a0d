//! One fetch at a time in a cache.
//!
//! The lock is the operating system's, on `.lock` in the cache directory: it goes when its
//! process does, however that ends, so no stale lock is ever left. The file itself stays, empty
//! or with the last holder's process id; removing it would let two processes lock two files of
//! that name.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use fs4::{FileExt, TryLockError};

use dissensus_core::{Event, Progress};

use crate::Error;

const POLL: Duration = Duration::from_millis(100);

/// Held until it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    pub(super) fn take(
        cache_dir: &Path,
        wait: Duration,
        progress: &dyn Progress,
    ) -> Result<Self, Error> {
        fs::create_dir_all(cache_dir)
            .map_err(|e| Error::io("creating the cache directory", cache_dir, e))?;
        let path = cache_dir.join(".lock");
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|e| Error::io("opening", &path, e))?;
        let began = Instant::now();
        let mut told = false;
        loop {
            match FileExt::try_lock(&file) {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => {}
                // Some network file systems know no locks; there we do without.
                Err(TryLockError::Error(e)) if e.kind() == std::io::ErrorKind::Unsupported => break,
                Err(TryLockError::Error(e)) => return Err(Error::io("locking", &path, e)),
            }
            if !told {
                let line = format!(
                    "waiting for another process{} that fetches into this cache",
                    holder(&mut file)
                );
                progress.report(Event::Note(&line));
                told = true;
            }
            let waited = began.elapsed();
            if waited >= wait {
                return Err(Error::Busy { holder: holder(&mut file), lock: path, waited });
            }
            std::thread::sleep(POLL.min(wait - waited));
        }
        // Only for the message that a waiting process shows, so a failure is no error.
        let _ = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| write!(file, "{}", std::process::id()));
        Ok(Lock { _file: file })
    }
}

/// " (pid N)", where the lock file says so.
fn holder(file: &mut File) -> String {
    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.read_to_string(&mut text));
    match (read, text.trim().parse::<u32>()) {
        (Ok(_), Ok(pid)) => format!(" (pid {pid})"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_taker_waits_and_then_is_told_who_holds_it() {
        let dir = tempfile::tempdir().unwrap();
        let first = Lock::take(dir.path(), Duration::ZERO, &dissensus_core::Silent).unwrap();
        let wait = Duration::from_millis(30);
        let error = Lock::take(dir.path(), wait, &dissensus_core::Silent).unwrap_err();
        let message = error.to_string();
        assert!(matches!(error, Error::Busy { .. }), "{message}");
        assert!(message.contains(&format!("(pid {})", std::process::id())), "{message}");

        drop(first);
        Lock::take(dir.path(), Duration::ZERO, &dissensus_core::Silent).unwrap();
    }
}
