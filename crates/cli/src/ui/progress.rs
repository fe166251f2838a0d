//! Progress on standard error: shown only on a terminal, and only for work that takes a while.

use std::sync::Mutex;
use std::time::Duration;

use dissensus_core::{Event, Progress};
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

/// Files below this size are read before a bar could be seen.
const LARGE: u64 = 64 << 20;

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

/// Bars for fetching: one a file, and a word when something is tried again.
#[derive(Default)]
pub(crate) struct FetchBars {
    bar: Option<ProgressBar>,
}

impl dissensus_data::Progress for FetchBars {
    fn waiting(&mut self, holder: &str) {
        super::err(&format!("waiting for another process that fetches ({holder})\n"));
    }

    fn start(&mut self, file: &str, from: &str) {
        let message = super::text::file_name(file);
        let _ = from;
        self.bar = Some(bytes_bar(None, message));
    }

    fn total(&mut self, bytes: u64) {
        if let Some(bar) = &self.bar {
            bar.set_length(bytes);
        }
    }

    fn advance(&mut self, bytes: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(bytes);
        }
    }

    fn retry(&mut self, attempt: u32, wait: Duration, error: &dissensus_data::Error) {
        let line = format!("try {attempt} again in {} s: {error}", wait.as_secs());
        match &self.bar {
            Some(bar) => bar.println(line),
            None => super::err(&format!("{line}\n")),
        }
    }

    fn done(&mut self, _file: &str) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
