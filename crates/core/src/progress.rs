//! How long work reports what it does, and how it is asked to stop.
//!
//! Everything that takes time (downloads, reading large files, encoding, training, examining)
//! takes a [`Progress`] and a [`Cancel`]. A front end implements one method, or passes a function,
//! and draws what it likes: a bar in a terminal, a widget in a notebook, or nothing ([`Silent`]).
//!
//! ```
//! use std::sync::Mutex;
//! use dissensus_core::{Event, Progress};
//!
//! let lines = Mutex::new(Vec::new());
//! let log = |event: Event<'_>| {
//!     if let Event::Advanced { task, done, .. } = event {
//!         lines.lock().unwrap().push(format!("{task}: {done}"));
//!     }
//! };
//! log.report(Event::Advanced { task: "votes.csv", done: 10, total: Some(20), detail: "" });
//! assert_eq!(*lines.lock().unwrap(), ["votes.csv: 10"]);
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What the steps of a task are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Anything else: items, epochs, products.
    Steps,
}

/// Tasks that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batch<'a> {
    /// Runs that search for settings.
    Search,
    /// Runs whose results are reported.
    Runs,
    /// A stage of a study, by its name: each task is a run, or a group of runs, that it examines.
    Stage(&'a str),
}

/// How a task of a batch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending<'a> {
    /// It is done.
    Done,
    /// It was done before.
    DoneBefore,
    /// It was cancelled, and can be continued.
    Interrupted,
    /// It failed, for this reason.
    Failed(&'a str),
    /// It was cancelled before it began.
    NotStarted,
}

/// Something that happened in long work. A task is known by its name until it is finished.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A task begins.
    Started {
        /// Its name, for people: a file, a run.
        task: &'a str,
        /// How many steps it has, where that is known.
        total: Option<u64>,
        /// What they are counted in.
        unit: Unit,
    },
    /// A task went on.
    Advanced {
        /// Its name.
        task: &'a str,
        /// Steps done.
        done: u64,
        /// How many there are, where that is known by now.
        total: Option<u64>,
        /// The latest figures, for people; may be empty.
        detail: &'a str,
    },
    /// A task is over.
    Finished {
        /// Its name.
        task: &'a str,
    },
    /// The numbers of one step of a task. A run reports each epoch, also those of an earlier process.
    Measured {
        /// Its name.
        task: &'a str,
        /// The step, from 0.
        step: u64,
        /// Names and values: for an epoch the learning rate (`rate`), the `loss` and metrics.
        values: &'a [(&'a str, Option<f64>)],
    },
    /// Several tasks begin; each may run beside the others.
    BatchStarted {
        /// What they are.
        batch: Batch<'a>,
        /// Their names.
        tasks: &'a [&'a str],
        /// Steps of all together.
        steps: u64,
    },
    /// A task of a batch has ended. For a run, it comes after what the store keeps is written.
    Ended {
        /// Its name.
        task: &'a str,
        /// Its id in the store; empty where it has none.
        id: &'a str,
        /// How it ended.
        ending: Ending<'a>,
        /// Its steps; fewer are done where it stopped early.
        steps: u64,
        /// How long it took now.
        seconds: f64,
        /// Its result, for people; may be empty.
        detail: &'a str,
    },
    /// All tasks of a batch have ended, or it was cancelled.
    BatchFinished {
        /// What they are.
        batch: Batch<'a>,
    },
    /// Something that a person should know, such as a guess that was made.
    Note(&'a str),
    /// Something that a person should look at.
    Warning(&'a str),
}

/// Receives the events of long work, from any thread.
pub trait Progress: Sync {
    /// Takes note of an event. It is called often and should return quickly.
    fn report(&self, event: Event<'_>);
}

impl<F: Fn(Event<'_>) + Sync> Progress for F {
    fn report(&self, event: Event<'_>) {
        self(event);
    }
}

/// Reports nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn report(&self, _: Event<'_>) {}
}

/// Asks long work to stop at the next safe point. Clones share one flag.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A token that nobody has used yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_of_a_token_share_its_flag() {
        let (one, two) = {
            let token = Cancel::new();
            (token.clone(), token)
        };
        assert!(!two.is_cancelled());
        one.cancel();
        assert!(two.is_cancelled());
    }
}
