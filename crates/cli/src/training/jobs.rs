//! Bars and lines of runs that are being trained.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dissensus::core::{Event, Progress};
use dissensus::data::default_cache_dir;
use dissensus::train::{DeviceError, EndedJob, JobOutcome, OpenDevice, RunJob, RunResult};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget};

use crate::ui::progress::set_style;
use crate::ui::{self, paint, text};

/// Runs at a time, as typed; `None` for what is fastest on the device.
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
        *self.batch() = Batch { all: Some(all), runs: HashMap::new(), lines, width };
    }

    /// Takes the bars away.
    pub(crate) fn end(&self) {
        self.batch().all.take().iter().for_each(ProgressBar::finish_and_clear);
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
        let mut batch = self.batch();
        match event {
            Event::Started { task, total, .. } => {
                let Some(all) = &batch.all else { return };
                let bar = self.multi.insert_before(all, ProgressBar::new(total.unwrap_or(0)));
                set_style(&bar, RUN);
                bar.set_prefix(text::pad(task, batch.width));
                batch.runs.insert(task.to_owned(), bar);
            }
            Event::Advanced { task, done, detail, .. } => {
                let (Some(bar), Some(all)) = (batch.runs.get(task), &batch.all) else { return };
                all.inc(done.saturating_sub(bar.position()));
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
        "soft NLL {}, accuracy {}, selected epoch {}",
        number(metric("soft_nll")),
        number(metric("accuracy")),
        result.best_epoch + 1,
    )
}
