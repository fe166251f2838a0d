//! Bars and lines of runs that are being trained.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dissensus::core::{Event, Progress};
use dissensus::train::{EndedJob, JobOutcome, RunJob, RunResult};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget};

use crate::ui::progress::{set_style, steps};
use crate::ui::{self, paint, text};

/// A bar per run that is being trained, one for all runs, and a line per run that ended.
pub(crate) struct Bars {
    multi: MultiProgress,
    shown: bool,
    batch: Mutex<Batch>,
}

/// The runs that are being trained.
#[derive(Default)]
struct Batch {
    all: Option<ProgressBar>,
    /// By label.
    runs: HashMap<String, ProgressBar>,
    /// Whether a line is printed for every run that finishes.
    lines: bool,
    width: usize,
    stage: Option<Stage>,
}

/// A stage that examines finished runs.
struct Stage {
    name: String,
    bar: ProgressBar,
    begun: Instant,
}

const RUN: &str = "{prefix} {bar:24} {pos:>4}/{len} ETA {eta:>4}  {msg}";
const ALL: &str = "{prefix} {bar:24} {percent:>3} % of all epochs, ETA {eta}";

impl Bars {
    pub(crate) fn new() -> Self {
        let multi = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(8));
        Self { shown: !multi.is_hidden(), multi, batch: Mutex::default() }
    }

    /// Begins with these runs. `lines`: a line is printed for every one that finishes.
    pub(crate) fn begin(&self, runs: &[RunJob<'_>], lines: bool) {
        let total: u64 = runs.iter().map(|run| run.plan.training.epochs).sum();
        let width = runs.iter().map(|run| text::width(&run.label)).max().unwrap_or(0);
        let all = self.multi.add(ProgressBar::new(total));
        set_style(&all, ALL);
        all.set_prefix(text::pad("all runs", width));
        all.enable_steady_tick(Duration::from_millis(500));
        self.end();
        *self.batch() = Batch { all: Some(all), lines, width, ..Batch::default() };
    }

    /// Takes the bars away, and prints how far a stage came.
    pub(crate) fn end(&self) {
        let mut batch = self.batch();
        batch.all.take().iter().for_each(ProgressBar::finish_and_clear);
        if let Some(Stage { name, bar, begun }) = batch.stage.take() {
            bar.finish_and_clear();
            let (done, all) = (bar.position(), bar.length().unwrap_or(0));
            ui::remark(&format!(
                "stage {name}: {done} of {all}, {:.1} s",
                begun.elapsed().as_secs_f64()
            ));
        }
    }

    /// Draws the bar of a stage that examines so many runs.
    pub(crate) fn begin_stage(&self, name: &str, total: usize) {
        self.end();
        let (name, bar) = (name.to_owned(), steps(total as u64, name));
        self.batch().stage = Some(Stage { name, bar, begun: Instant::now() });
    }

    /// Says what a stage is doing.
    pub(crate) fn stage_advanced(&self, detail: &str) {
        if let Some(stage) = &self.batch().stage {
            stage.bar.set_message(text::clean(&format!("{}: {detail}", stage.name)));
        }
    }

    /// Counts a run that a stage is done with, and prints why it failed.
    pub(crate) fn stage_ended(&self, label: &str, failed: Option<&str>) {
        let batch = self.batch();
        let Some(stage) = &batch.stage else { return };
        stage.bar.inc(1);
        if let Some(reason) = failed {
            let line = format!("{} {label}: {reason}\n", paint::bad("failed:"));
            stage.bar.suspend(|| ui::err(&line));
        }
    }

    fn batch(&self) -> MutexGuard<'_, Batch> {
        self.batch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the bar of a run away and prints how the run ended.
    pub(crate) fn ended(&self, job: &EndedJob) {
        let mut batch = self.batch();
        let bar = batch.runs.remove(&job.label);
        // Epochs that early stopping saved count as done.
        let done = bar.as_ref().map_or(0, ProgressBar::position);
        batch.all.iter().for_each(|all| all.inc(job.plan.training.epochs.saturating_sub(done)));
        bar.iter().for_each(ProgressBar::finish_and_clear);
        let label = text::pad(&job.label, batch.width);
        let line = match &job.outcome {
            JobOutcome::Finished { .. } if !batch.lines => return,
            JobOutcome::Finished { result: None, .. } => return,
            JobOutcome::Finished { result: Some(result), known: true } => {
                format!("{label}  {}", paint::dim(&format!("done before; {}", figures(result))))
            }
            JobOutcome::Finished { result: Some(result), .. } => {
                format!("{label}  {}, {:.1} s", figures(result), job.seconds)
            }
            JobOutcome::Interrupted => format!("{label}  {}", paint::warn("interrupted")),
            JobOutcome::Failed(reason) => format!("{label}  {} {reason}", paint::bad("failed:")),
            JobOutcome::NotStarted => return,
        };
        self.print(&line);
    }

    fn print(&self, line: &str) {
        match self.shown {
            true => self.multi.suspend(|| ui::err(&format!("{line}\n"))),
            false => ui::err(&format!("{line}\n")),
        }
    }
}

impl Progress for Bars {
    fn report(&self, event: Event<'_>) {
        let mut batch = self.batch();
        match event {
            Event::Started { task, total, .. } => {
                let Some(all) = &batch.all else { return };
                let bar = self.multi.insert_before(all, ProgressBar::new(total.unwrap_or(0)));
                set_style(&bar, RUN);
                bar.set_prefix(text::pad(&text::clean(task), batch.width));
                batch.runs.insert(task.to_owned(), bar);
            }
            Event::Advanced { task, done, detail, .. } => {
                let (Some(bar), Some(all)) = (batch.runs.get(task), &batch.all) else { return };
                all.inc(done.saturating_sub(bar.position()));
                bar.set_position(done);
                bar.set_message(text::clean(detail));
            }
            Event::Note(text) => self.print(&paint::dim(text)),
            Event::Warning(text) => self.print(&paint::warn(text)),
            // The bar goes when the run has ended in the store, too.
            _ => {}
        }
    }
}

/// The figures of a run's line.
fn figures(result: &RunResult) -> String {
    let metric = |name: &str| result.reported().and_then(|(_, part)| part.best.get(name));
    let number = |value: Option<f64>| value.map_or("–".to_owned(), |v| format!("{v:.4}"));
    // People count from 1.
    format!(
        "soft NLL {}, accuracy {}, selected epoch {}",
        number(metric("soft_nll")),
        number(metric("accuracy")),
        result.best_epoch + 1,
    )
}
