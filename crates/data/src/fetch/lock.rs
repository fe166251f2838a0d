//! One fetch at a time in a cache.
//!
//! The lock is the operating system's, on `.lock` in the cache directory: it goes when its
//! process does, however that ends, so no stale lock is ever left. The file itself stays, empty
//! or with the last holder's process id; removing it would let two processes lock two files of
//! that name.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use dissensus_core::{Event, Progress};
use dissensus_io::Lock;

use crate::Error;

/// The right to fetch, until it is dropped.
#[derive(Debug)]
pub(super) struct Held {
    /// Some network file systems know no locks; there we do without.
    _lock: Option<Lock>,
}

/// Takes the lock of a cache.
pub(super) fn take(
    cache_dir: &Path,
    wait: Duration,
    progress: &dyn Progress,
) -> Result<Held, Error> {
    fs::create_dir_all(cache_dir)
        .map_err(|e| Error::io("creating the cache directory", cache_dir, e))?;
    let path = cache_dir.join(".lock");
    let within = |wait: Duration| match Lock::take_within(&path, wait) {
        Ok(Some(mut lock)) => {
            // Only for the message that a waiting process shows, so a failure is no error.
            let _ = lock.sign();
            Ok(Some(Held { _lock: Some(lock) }))
        }
        Ok(None) => Ok(None),
        Err(e) if e.kind() == ErrorKind::Unsupported => Ok(Some(Held { _lock: None })),
        Err(e) => Err(Error::io("locking", &path, e)),
    };
    if let Some(held) = within(Duration::ZERO)? {
        return Ok(held);
    }
    let line = format!("waiting for another process{} that fetches into this cache", holder(&path));
    progress.report(Event::Note(&line));
    let busy = || Error::Busy { holder: holder(&path), lock: path.clone(), waited: wait };
    within(wait)?.ok_or_else(busy)
}

/// " (pid N)", where the lock file says so.
fn holder(path: &Path) -> String {
    Lock::holder(path).map_or_else(String::new, |pid| format!(" (pid {pid})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_taker_waits_and_then_is_told_who_holds_it() {
        let dir = tempfile::tempdir().unwrap();
        let first = take(dir.path(), Duration::ZERO, &dissensus_core::Silent).unwrap();
        let wait = Duration::from_millis(30);
        let error = take(dir.path(), wait, &dissensus_core::Silent).unwrap_err();
        let message = error.to_string();
        assert!(matches!(error, Error::Busy { .. }), "{message}");
        assert!(message.contains(&format!("(pid {})", std::process::id())), "{message}");

        drop(first);
        take(dir.path(), Duration::ZERO, &dissensus_core::Silent).unwrap();
    }
}
