//! Bars and lines of runs that are being trained and examined.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dissensus::Context;
use dissensus::core::{Batch, Ending, Event, Progress};
use dissensus::train::{EndedJob, JobOutcome};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget};

use crate::interrupt;
use crate::ui::progress::{Terminal, set_style, steps};
use crate::ui::{self, paint, text};

/// A bar per run that is being trained, one for all runs, and a line per run that ended. What belongs to
/// no batch of runs is drawn as elsewhere.
pub(crate) struct Bars {
    multi: MultiProgress,
    shown: bool,
    /// Whether a line is printed for every run that finishes; those of a search have none.
    lines: bool,
    batch: Mutex<Option<Current>>,
    others: Terminal,
}

/// What is being done.
enum Current {
    Runs { all: ProgressBar, runs: HashMap<String, ProgressBar>, width: usize, lines: bool },
    Stage { name: String, bar: ProgressBar, begun: Instant },
}

const RUN: &str = "{prefix} {bar:24} {pos:>4}/{len} ETA {eta:>4}  {msg}";
const ALL: &str = "{prefix} {bar:24} {percent:>3} % of all epochs, ETA {eta}";

impl Bars {
    pub(crate) fn new(lines: bool) -> Self {
        let multi = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(8));
        let shown = !multi.is_hidden();
        Self { shown, multi, lines, batch: Mutex::default(), others: Terminal::default() }
    }

    /// The same context with these bars, and stopped by Ctrl-C.
    pub(crate) fn context<'a>(&'a self, context: Context<'a>) -> Context<'a> {
        Context { progress: self, cancel: interrupt::cancel().clone(), ..context }
    }

    fn batch(&self) -> MutexGuard<'_, Option<Current>> {
        self.batch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, batch: Batch<'_>, tasks: &[&str], total: u64) -> Current {
        if let Batch::Stage(name) = batch {
            let (name, bar) = (name.to_owned(), steps(total, name));
            return Current::Stage { name, bar, begun: Instant::now() };
        }
        if batch == Batch::Search {
            ui::remark(&format!("searching: {} runs", text::thousands(tasks.len())));
        }
        let width = tasks.iter().map(|task| text::width(task)).max().unwrap_or(0);
        let all = self.multi.add(ProgressBar::new(total));
        set_style(&all, ALL);
        all.set_prefix(text::pad("all runs", width));
        all.enable_steady_tick(Duration::from_millis(500));
        let lines = self.lines && batch == Batch::Runs;
        Current::Runs { all, runs: HashMap::new(), width, lines }
    }

    fn print(&self, line: &str) {
        match self.shown {
            true => self.multi.suspend(|| ui::err(&format!("{line}\n"))),
            false => ui::err(&format!("{line}\n")),
        }
    }
}

impl Current {
    /// Takes its bars away; says how far a stage came.
    fn end(&self) {
        match self {
            Self::Runs { all, .. } => all.finish_and_clear(),
            Self::Stage { name, bar, begun } => {
                bar.finish_and_clear();
                let (done, all) = (bar.position(), bar.length().unwrap_or(0));
                let seconds = begun.elapsed().as_secs_f64();
                ui::remark(&format!("stage {name}: {done} of {all}, {seconds:.1} s"));
            }
        }
    }
}

impl Progress for Bars {
    fn report(&self, event: Event<'_>) {
        let mut batch = self.batch();
        let current = match (event, batch.as_mut()) {
            (Event::BatchStarted { batch: what, tasks, steps }, _) => {
                *batch = Some(self.begin(what, tasks, steps));
                return;
            }
            (Event::Note(text), _) => return self.print(&paint::dim(text)),
            (Event::Warning(text), _) => {
                return self.print(&format!("{} {text}", paint::warn("note:")));
            }
            (event, None) => return self.others.report(event),
            (_, Some(current)) => current,
        };
        match (event, current) {
            (Event::BatchFinished { .. }, current) => {
                current.end();
                *batch = None;
            }
            (Event::Started { task, total, .. }, Current::Runs { all, runs, width, .. }) => {
                let bar = self.multi.insert_before(all, ProgressBar::new(total.unwrap_or(0)));
                set_style(&bar, RUN);
                bar.set_prefix(text::pad(&text::clean(task), *width));
                runs.insert(task.to_owned(), bar);
            }
            (Event::Advanced { task, done, detail, .. }, Current::Runs { all, runs, .. }) => {
                let Some(bar) = runs.get(task) else { return };
                all.inc(done.saturating_sub(bar.position()));
                bar.set_position(done);
                bar.set_message(text::clean(detail));
            }
            (Event::Advanced { task, detail, .. }, Current::Stage { name, bar, .. }) => {
                bar.set_message(text::clean(&format!("{name}: {task}, {detail}")));
            }
            (
                Event::Ended { task, ending, steps, seconds, detail, .. },
                Current::Runs { all, runs, width, lines },
            ) => {
                let bar = runs.remove(task);
                // Epochs that early stopping saved count as done.
                let done = bar.as_ref().map_or(0, ProgressBar::position);
                all.inc(steps.saturating_sub(done));
                bar.iter().for_each(ProgressBar::finish_and_clear);
                let words = match ending {
                    Ending::DoneBefore => paint::dim(&format!("done before; {detail}")),
                    Ending::Done => format!("{detail}, {seconds:.1} s"),
                    Ending::Interrupted => paint::warn("interrupted"),
                    Ending::Failed(reason) => format!("{} {reason}", paint::bad("failed:")),
                    Ending::NotStarted => return,
                };
                if *lines || !matches!(ending, Ending::Done | Ending::DoneBefore) {
                    self.print(&format!("{}  {words}", text::pad(task, *width)));
                }
            }
            (Event::Ended { task, ending, .. }, Current::Stage { bar, .. }) => {
                bar.inc(1);
                if let Ending::Failed(reason) = ending {
                    let line = format!("{} {task}: {reason}\n", paint::bad("failed:"));
                    bar.suspend(|| ui::err(&line));
                }
            }
            // The bar goes when the run has ended in the store, too.
            _ => {}
        }
    }
}

/// The runs that failed, and why.
pub(crate) fn failures(ended: &[EndedJob]) -> Vec<String> {
    let line = |run: &EndedJob| match &run.outcome {
        JobOutcome::Failed(error) => Some(format!("{}: {error}", run.label)),
        _ => None,
    };
    ended.iter().filter_map(line).collect()
}

/// Prints what failed; whether anything did.
pub(crate) fn say_failed(ended: &[EndedJob]) -> bool {
    let failed = failures(ended);
    failed.iter().for_each(|line| ui::err(&format!("{} {line}\n", paint::bad("failed:"))));
    !failed.is_empty()
}
