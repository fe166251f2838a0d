//! Progress on standard error: shown only on a terminal, and only for work that takes a while.

use std::sync::{Mutex, PoisonError};

use dissensus::core::{Event, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const BYTES: &str = "{msg} {bar:30} {bytes}/{total_bytes} {bytes_per_sec} ETA {eta}";

/// A bar for `bytes` bytes, drawn a few times a second.
pub(crate) fn bytes_bar(bytes: Option<u64>, message: &str) -> ProgressBar {
    let bar = match bytes {
        Some(bytes) => ProgressBar::new(bytes),
        None => ProgressBar::no_length(),
    };
    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(8));
    if let Ok(style) = ProgressStyle::with_template(BYTES) {
        bar.set_style(style.progress_chars("█▌ "));
    }
    bar.set_message(message.to_owned());
    bar
}

/// A bar for `steps` steps of work.
pub(crate) fn steps(steps: usize, message: &str) -> ProgressBar {
    let bar = ProgressBar::new(steps as u64);
    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(8));
    if let Ok(style) = ProgressStyle::with_template("{msg} {bar:30} {pos}/{len} ETA {eta}") {
        bar.set_style(style.progress_chars("█▌ "));
    }
    bar.set_message(message.to_owned());
    bar
}

/// A bar for the steps of library work, task after task.
pub(crate) struct StepBar(ProgressBar);

impl StepBar {
    pub(crate) fn new(message: &str) -> Self {
        Self(steps(0, message))
    }
}

impl Progress for StepBar {
    fn report(&self, event: Event<'_>) {
        match event {
            Event::Started { total, .. } => self.0.inc_length(total.unwrap_or(0)),
            Event::Advanced { .. } => self.0.inc(1),
            _ => {}
        }
    }
}

impl Drop for StepBar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Files below this size are read before a bar could be seen.
pub(super) const LARGE: u64 = 64 << 20;

/// A bar for a file that is read, if it is large.
#[derive(Default)]
pub(crate) struct ReadingBar(Mutex<Option<ProgressBar>>);

impl Progress for ReadingBar {
    fn report(&self, event: Event<'_>) {
        let Ok(mut bar) = self.0.lock() else { return };
        match event {
            Event::Started { task, total: Some(total), .. } if total >= LARGE => {
                let message = format!("reading {}", super::text::file_name(task));
                *bar = Some(bytes_bar(Some(total), &message));
            }
            Event::Advanced { done, .. } => bar.iter().for_each(|bar| bar.set_position(done)),
            Event::Finished { .. } => bar.take().iter().for_each(ProgressBar::finish_and_clear),
            _ => {}
        }
    }
}

/// Bars for fetching: one per file, and a line when something is tried again.
#[derive(Default)]
pub(crate) struct FetchBars {
    bar: Mutex<Option<ProgressBar>>,
}

impl Progress for FetchBars {
    fn report(&self, event: Event<'_>) {
        let mut bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        match (event, &*bar) {
            (Event::Started { task, total, .. }, _) => {
                *bar = Some(bytes_bar(total, super::text::file_name(task)));
            }
            (Event::Advanced { done, total, .. }, Some(bar)) => {
                if let Some(total) = total {
                    bar.set_length(total);
                }
                bar.set_position(done);
            }
            (Event::Finished { .. }, Some(shown)) => {
                shown.finish_and_clear();
                *bar = None;
            }
            (Event::Note(line), shown) | (Event::Warning(line), shown) => match shown {
                Some(shown) => shown.suspend(|| super::err(&format!("{line}\n"))),
                None => super::err(&format!("{line}\n")),
            },
            _ => {}
        }
    }
}
