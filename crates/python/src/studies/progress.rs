//! The progress of a study: one task for all its runs.

use std::sync::{Mutex, MutexGuard, PoisonError};

use dissensus::core::{Batch, Ending, Unit};
use dissensus::{Event, Progress};

/// The runs of a study as one task; what their epochs say is a detail of it.
pub(super) struct Whole<'a> {
    progress: &'a dyn Progress,
    runs: Mutex<Runs>,
}

#[derive(Default)]
struct Runs {
    done: u64,
    total: u64,
    /// Whether runs are trained now.
    training: bool,
    /// The stage that examines runs now.
    stage: Option<String>,
}

const RUNS: &str = "runs";

impl<'a> Whole<'a> {
    pub(super) fn new(progress: &'a dyn Progress) -> Self {
        Self { progress, runs: Mutex::default() }
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn advanced(&self, detail: &str) {
        let Runs { done, total, .. } = *self.runs();
        let total = Some(total);
        self.progress.report(Event::Advanced { task: RUNS, done, total, detail });
    }

    fn failed(&self, text: &str) {
        self.progress.report(Event::Warning(text));
    }
}

impl Progress for Whole<'_> {
    fn report(&self, event: Event<'_>) {
        let (training, in_stage) = {
            let runs = self.runs();
            (runs.training, runs.stage.is_some())
        };
        match event {
            Event::BatchStarted { batch: Batch::Stage(stage), .. } => {
                self.runs().stage = Some(stage.to_owned());
                self.advanced(&format!("stage {stage}"));
            }
            Event::BatchStarted { tasks, .. } => {
                let total = {
                    let mut runs = self.runs();
                    runs.training = true;
                    runs.total += tasks.len() as u64;
                    Some(runs.total)
                };
                self.progress.report(Event::Started { task: RUNS, total, unit: Unit::Steps });
            }
            Event::BatchFinished { .. } => {
                let mut runs = self.runs();
                (runs.training, runs.stage) = (false, None);
            }
            Event::Ended { task, ending, .. } if training => {
                if let Ending::Failed(reason) = ending {
                    self.failed(&format!("{task} failed: {reason}"));
                }
                self.runs().done += 1;
                self.advanced(task);
            }
            Event::Ended { task, ending: Ending::Failed(reason), .. } => {
                self.failed(&format!("{task}: {reason}"));
            }
            Event::Advanced { task, done, total, .. } if training => {
                let total = total.map_or(String::new(), |total| format!("/{total}"));
                self.advanced(&format!("{task}: epoch {done}{total}"));
            }
            Event::Advanced { task, detail, .. } if in_stage => {
                self.advanced(&format!("{task}, {detail}"));
            }
            Event::Note(_) | Event::Warning(_) => self.progress.report(event),
            // What belongs to no run, such as a bucket's transfers.
            _ if !training && !in_stage => self.progress.report(event),
            _ => {}
        }
    }
}
