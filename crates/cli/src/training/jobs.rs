//! Runs are trained with a bar for every one that is being trained, one for all, and a line for each
//! that ends.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use dissensus::core::{Event, Progress};
use dissensus::data::default_cache_dir;
use dissensus::store::Store;
use dissensus::train::spec::Checkpoint;
use dissensus::train::{
    DeviceError, EndedJob, JobOptions, JobOutcome, OpenDevice, RunJob, RunResult, run_jobs,
};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::on_interrupt;
use crate::ui::{self, paint, text};

/// Runs, and how they are trained.
pub(crate) struct Batch<'a> {
    pub(crate) runs: &'a [RunJob<'a>],
    pub(crate) store: &'a Store,
    pub(crate) device: &'a str,
    pub(crate) jobs: Option<usize>,
    pub(crate) threads: Option<usize>,
    pub(crate) checkpoint: Checkpoint,
    pub(crate) tensorboard: bool,
    /// The folder of curves for TensorBoard, where they are not to lie with the runs.
    pub(crate) curves: Option<&'a Path>,
    /// Whether a line is printed for every run that ends.
    pub(crate) lines: bool,
}

/// How many runs at a time, as it is typed; `None` for what the device does best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AtATime(pub(crate) Option<usize>);

impl std::str::FromStr for AtATime {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self(None));
        }
        let number = text.parse().ok().filter(|number| *number > 0);
        let number = number.ok_or("expected auto, or a whole number, at least 1")?;
        Ok(Self(Some(number)))
    }
}

/// The device of this name.
pub(crate) fn open_device(name: &str) -> Result<OpenDevice, DeviceError> {
    OpenDevice::open(name, default_cache_dir().ok().as_deref())
}

/// Trains all of them, as far as they are not done yet.
pub(crate) fn run_all(batch: &Batch<'_>) -> anyhow::Result<Vec<EndedJob>> {
    let device = open_device(batch.device)?;
    let bars = Bars::new(batch);
    let ended = run_jobs(
        batch.runs,
        &JobOptions {
            version: dissensus::VERSION,
            jobs: batch.jobs,
            threads: batch.threads,
            checkpoint: batch.checkpoint,
            tensorboard: batch.tensorboard,
            curves: batch.curves,
            progress: &bars,
            cancel: on_interrupt().clone(),
            on_end: &|job| bars.ended(job),
            ..JobOptions::new(batch.store, &device)
        },
    );
    bars.all.finish_and_clear();
    Ok(ended?)
}

struct Bars {
    multi: MultiProgress,
    all: ProgressBar,
    /// Those of the runs that are being trained, by label.
    runs: Mutex<HashMap<String, ProgressBar>>,
    shown: bool,
    lines: bool,
    width: usize,
}

const RUN: &str = "{prefix} {bar:24} {pos:>4}/{len} ETA {eta:>4}  {msg}";
const ALL: &str = "{prefix} {bar:24} {percent:>3} % of all epochs, ETA {eta}";

impl Bars {
    fn new(batch: &Batch<'_>) -> Self {
        let multi = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(8));
        let shown = !multi.is_hidden();
        let total: u64 = batch.runs.iter().map(|run| run.plan.training.epochs).sum();
        let width = batch.runs.iter().map(|run| text::width(&run.label)).max().unwrap_or(0);
        let all = multi.add(ProgressBar::new(total));
        style(&all, ALL);
        all.set_prefix(text::pad("all runs", width));
        all.enable_steady_tick(Duration::from_millis(500));
        Self { multi, all, runs: Mutex::default(), shown, lines: batch.lines, width }
    }

    fn start(&self, label: &str, epochs: u64) {
        let bar = self.multi.insert_before(&self.all, ProgressBar::new(epochs));
        style(&bar, RUN);
        bar.set_prefix(text::pad(label, self.width));
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).insert(label.to_owned(), bar);
    }

    /// Takes the bar away and says how the run ended.
    fn ended(&self, job: &EndedJob) {
        let bar = self.runs.lock().unwrap_or_else(PoisonError::into_inner).remove(&job.label);
        // Epochs that early stopping saved count as done.
        let done = bar.as_ref().map_or(0, ProgressBar::position);
        self.all.inc(job.plan.training.epochs.saturating_sub(done));
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
        let label = text::pad(&job.label, self.width);
        let line = match &job.outcome {
            JobOutcome::Finished { .. } if !self.lines => return,
            JobOutcome::Finished { result, known: true } => {
                format!("{label}  {}", paint::dim(&format!("done before; {}", figures(result))))
            }
            JobOutcome::Finished { result, .. } => {
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
        match event {
            Event::Started { task, total, .. } => self.start(task, total.unwrap_or(0)),
            Event::Advanced { task, done, detail, .. } => {
                let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
                let Some(bar) = runs.get(task) else { return };
                self.all.inc(done.saturating_sub(bar.position()));
                bar.set_position(done);
                bar.set_message(detail.to_owned());
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
        "soft NLL {}, accuracy {}, best epoch {}",
        number(metric("soft_nll")),
        number(metric("accuracy")),
        result.best_epoch + 1,
    )
}

fn style(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("█▌ "));
    }
}
