//! What loading data needs beside its name: a cache, and somebody to report to.

use std::path::{Path, PathBuf};

use dissensus_core::{Cancel, Event, Progress, Silent};
use dissensus_data::Options;

use crate::SourceError;

/// Where datasets, encoders and encoded vectors are kept, and who is told what was guessed and left
/// out.
pub struct LoadContext<'a> {
    /// The cache folder; `None` where there is none, so that only files can be read.
    pub cache: Option<PathBuf>,
    /// Where to download what the cache does not have from; `None` for no downloads.
    pub fetch: Option<Options>,
    /// Receives notes and the progress of encoding.
    pub progress: &'a dyn Progress,
    /// Stops encoding.
    pub cancel: Cancel,
}

impl Default for LoadContext<'_> {
    /// With the default cache folder, and without reports.
    fn default() -> Self {
        Self::new(&Silent)
    }
}

impl<'a> LoadContext<'a> {
    /// With the default cache folder.
    pub fn new(progress: &'a dyn Progress) -> Self {
        let cache = dissensus_data::default_cache_dir().ok();
        Self { cache, fetch: None, progress, cancel: Cancel::new() }
    }

    /// The cache folder.
    pub fn cache(&self) -> Result<&Path, SourceError> {
        self.cache.as_deref().ok_or(SourceError::NoCache)
    }

    pub(crate) fn note(&self, text: &str) {
        self.progress.report(Event::Note(text));
    }

    pub(crate) fn warn(&self, text: &str) {
        self.progress.report(Event::Warning(text));
    }
}
