//! Progress of the library on standard error: bars on a terminal, and notes as lines.

use std::sync::{Mutex, MutexGuard, PoisonError};

use dissensus::core::{Event, Progress, Unit};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{paint, text};

const BYTES: &str = "{msg} {bar:30} {bytes}/{total_bytes} {bytes_per_sec} ETA {eta}";
const STEPS: &str = "{msg} {bar:30} {pos}/{len} {prefix}ETA {eta}";

/// Files below this size are read before a bar could be seen.
const LARGE: u64 = 64 << 20;

/// A bar for `steps` steps of work.
pub(crate) fn steps(steps: u64, message: &str) -> ProgressBar {
    new_bar(Some(steps), STEPS, message)
}

fn new_bar(total: Option<u64>, template: &str, message: &str) -> ProgressBar {
    let bar = total.map_or_else(ProgressBar::no_length, ProgressBar::new);
    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(8));
    set_style(&bar, template);
    bar.set_message(text::clean(message));
    bar
}

/// Draws a bar by this template.
pub(crate) fn set_style(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("█▌ "));
    }
}

/// Draws one bar at a time, for the latest task.
#[derive(Default)]
pub(crate) struct Terminal {
    /// The name of what is worked on; may be empty.
    name: String,
    current: Mutex<Option<Task>>,
}

struct Task {
    name: String,
    /// `None` if the task ends before a bar could be seen.
    bar: Option<ProgressBar>,
}

impl Terminal {
    /// Bars that begin with the name of what is worked on.
    pub(crate) fn named(name: &str) -> Self {
        Self { name: name.to_owned(), current: Mutex::default() }
    }

    fn current(&self) -> MutexGuard<'_, Option<Task>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self, task: &str, total: Option<u64>, unit: Unit) -> Task {
        let bar = match (unit, total) {
            (Unit::Bytes, None) => Some(new_bar(None, BYTES, text::file_name(task))),
            (Unit::Bytes, Some(total)) => (total >= LARGE).then(|| {
                new_bar(Some(total), BYTES, &format!("reading {}", text::file_name(task)))
            }),
            _ if self.name.is_empty() => Some(steps(total.unwrap_or(0), &format!("{task}:"))),
            _ => Some(steps(total.unwrap_or(0), &format!("{}: {task}", self.name))),
        };
        Task { name: task.to_owned(), bar }
    }
}

impl Progress for Terminal {
    fn report(&self, event: Event<'_>) {
        let mut current = self.current();
        match event {
            Event::Started { task, total, unit } => *current = Some(self.start(task, total, unit)),
            Event::Advanced { task, done, total, detail } => {
                if current.as_ref().is_none_or(|current| current.name != task) {
                    *current = Some(self.start(task, total, Unit::Steps));
                }
                if let Some(Task { bar: Some(bar), .. }) = &*current {
                    total.into_iter().for_each(|total| bar.set_length(total));
                    bar.set_position(done);
                    if !detail.is_empty() {
                        bar.set_prefix(format!("{detail} "));
                    }
                }
            }
            Event::Finished { .. } => *current = None,
            Event::Note(text) => print(&current, &paint::dim(text)),
            Event::Warning(text) => {
                print(&current, &format!("{} {text}", paint::warn("note:")));
            }
            _ => {}
        }
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn print(current: &Option<Task>, line: &str) {
    let print = || super::err(&format!("{line}\n"));
    match current {
        Some(Task { bar: Some(bar), .. }) => bar.suspend(print),
        _ => print(),
    }
}
