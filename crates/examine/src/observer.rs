//! Who is told how far the work is, and who may stop it.

use dissensus_core::{Cancel, Event, Progress, Silent};

use crate::ExamineError;

/// The progress and the cancel token that a question is asked with.
#[derive(Clone)]
pub struct Observer<'a> {
    progress: &'a dyn Progress,
    cancel: Cancel,
}

impl<'a> Observer<'a> {
    /// Reports to `progress`, and stops where `cancel` says so.
    pub fn new(progress: &'a dyn Progress, cancel: Cancel) -> Self {
        Self { progress, cancel }
    }

    /// Reports nothing and is not stopped.
    pub fn silent() -> Self {
        Self::new(&Silent, Cancel::new())
    }

    /// Reports that `done` of `total` steps of a task are done.
    pub(crate) fn advanced(
        &self,
        task: &str,
        done: usize,
        total: usize,
    ) -> Result<(), ExamineError> {
        self.advanced_with(task, done, total, "")
    }

    /// The same, with more to say about it.
    pub(crate) fn advanced_with(
        &self,
        task: &str,
        done: usize,
        total: usize,
        detail: &str,
    ) -> Result<(), ExamineError> {
        let total = Some(total as u64);
        self.progress.report(Event::Advanced { task, done: done as u64, total, detail });
        if Some(done as u64) == total {
            self.progress.report(Event::Finished { task });
        }
        match self.is_cancelled() {
            true => Err(ExamineError::Cancelled),
            false => Ok(()),
        }
    }

    /// Says something to people.
    pub(crate) fn note(&self, text: &str) {
        self.progress.report(Event::Note(text));
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }
}
