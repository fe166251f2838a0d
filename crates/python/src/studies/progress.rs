//! The progress of a study: one task for all its runs.

use std::sync::{Mutex, MutexGuard, PoisonError};

use dissensus::core::Unit;
use dissensus::train::JobOutcome;
use dissensus::{Event, Progress, StudyEvent};

/// The runs of a study as one task; what their epochs say is a detail of it.
pub(super) struct Whole<'a> {
    progress: &'a dyn Progress,
    runs: Mutex<Batch>,
}

#[derive(Default)]
struct Batch {
    done: u64,
    total: u64,
}

const RUNS: &str = "runs";

impl<'a> Whole<'a> {
    pub(super) fn new(progress: &'a dyn Progress) -> Self {
        Self { progress, runs: Mutex::default() }
    }

    fn runs(&self) -> MutexGuard<'_, Batch> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn event(&self, event: &StudyEvent<'_>) {
        match event {
            StudyEvent::Searching(runs) | StudyEvent::Training(runs) => {
                let mut batch = self.runs();
                batch.total += runs.len() as u64;
                let total = Some(batch.total);
                self.progress.report(Event::Started { task: RUNS, total, unit: Unit::Steps });
            }
            StudyEvent::Ended(job) => {
                if let JobOutcome::Failed(reason) = &job.outcome {
                    self.progress
                        .report(Event::Warning(&format!("{} failed: {reason}", job.label)));
                }
                self.runs().done += 1;
                self.advanced(&job.label);
            }
            StudyEvent::StageStarted { stage, .. } => {
                self.advanced(&format!("stage {stage}"));
            }
            StudyEvent::StageAdvanced { detail } => self.advanced(detail),
            StudyEvent::StageEnded { label, failed: Some(reason) } => {
                self.progress.report(Event::Warning(&format!("{label}: {reason}")));
            }
            _ => {}
        }
    }

    fn advanced(&self, detail: &str) {
        let Batch { done, total } = *self.runs();
        let total = Some(total);
        self.progress.report(Event::Advanced { task: RUNS, done, total, detail });
    }
}

impl Progress for Whole<'_> {
    fn report(&self, event: Event<'_>) {
        match event {
            Event::Advanced { task, done, total, .. } => {
                let total = total.map_or(String::new(), |total| format!("/{total}"));
                self.advanced(&format!("{task}: epoch {done}{total}"));
            }
            Event::Note(_) | Event::Warning(_) => self.progress.report(event),
            _ => {}
        }
    }
}
