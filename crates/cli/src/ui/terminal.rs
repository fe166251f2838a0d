//! Progress of the library on standard error: bars on a terminal, and its notes as lines.

use std::sync::{Mutex, PoisonError};

use dissensus::core::{Event, Progress, Unit};
use indicatif::ProgressBar;

use super::{paint, progress};

/// Draws one bar at a time.
#[derive(Default)]
pub(crate) struct Terminal {
    bar: Mutex<Option<ProgressBar>>,
}

impl Progress for Terminal {
    fn report(&self, event: Event<'_>) {
        let mut shown = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        match (event, &*shown) {
            (Event::Started { task, total, unit: Unit::Bytes }, _) => {
                let large = total.is_some_and(|total| total >= progress::LARGE);
                let message = format!("reading {}", super::text::file_name(task));
                *shown = large.then(|| progress::bytes_bar(total, &message));
            }
            (Event::Started { task, total, .. }, _) => {
                let total = total.and_then(|total| usize::try_from(total).ok()).unwrap_or(0);
                *shown = Some(progress::steps(total, &format!("{task}:")));
            }
            (Event::Advanced { done, total, .. }, Some(bar)) => {
                total.into_iter().for_each(|total| bar.set_length(total));
                bar.set_position(done);
            }
            (Event::Finished { .. }, _) => {
                if let Some(bar) = shown.take() {
                    bar.finish_and_clear();
                }
            }
            (Event::Note(text), bar) => print(bar.as_ref(), &paint::dim(text)),
            (Event::Warning(text), bar) => {
                print(bar.as_ref(), &format!("{} {text}", paint::warn("note:")));
            }
            _ => {}
        }
    }
}

fn print(bar: Option<&ProgressBar>, line: &str) {
    match bar {
        Some(bar) => bar.suspend(|| super::err(&format!("{line}\n"))),
        None => super::err(&format!("{line}\n")),
    }
}
