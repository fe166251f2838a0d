//! What a fetch reports: one task per file or archive, counted in bytes.

use std::cell::Cell;
use std::time::Duration;

use dissensus_core::{Event, Progress, Unit};

use crate::Error;

/// The transfer of one file. It reports when it starts, advances, is tried again (a warning) and is
/// finished; after an error nothing more.
pub(super) struct Transfer<'a> {
    progress: &'a dyn Progress,
    name: &'a str,
    total: Cell<Option<u64>>,
}

impl<'a> Transfer<'a> {
    pub(super) fn start(progress: &'a dyn Progress, name: &'a str) -> Self {
        progress.report(Event::Started { task: name, total: None, unit: Unit::Bytes });
        Self { progress, name, total: Cell::new(None) }
    }

    /// The size is known.
    pub(super) fn total(&self, bytes: u64) {
        self.total.set(Some(bytes));
    }

    /// So many bytes are there now, counted from the beginning of the file. The number falls when a
    /// server cannot resume.
    pub(super) fn advance(&self, done: u64) {
        self.report(done, "");
    }

    /// The first `done` bytes were there from an earlier attempt.
    pub(super) fn resumed(&self, done: u64) {
        self.report(done, "resumed");
    }

    fn report(&self, done: u64, detail: &str) {
        let (task, total) = (self.name, self.total.get());
        self.progress.report(Event::Advanced { task, done, total, detail });
    }

    /// The transfer failed and is tried again after a pause.
    pub(super) fn retry(&self, attempt: u32, wait: Duration, why: &Error) {
        let line = format!("{}: attempt {attempt} in {} s: {why}", self.name, wait.as_secs());
        self.progress.report(Event::Warning(&line));
    }

    /// The file is in the cache and right, or the archive is complete.
    pub(super) fn finish(&self) {
        self.progress.report(Event::Finished { task: self.name });
    }
}
