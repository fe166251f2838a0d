//! How long work reports what it does, and how it is asked to stop.
//!
//! Everything that takes time (downloads, reading large files, encoding, training, examining)
//! takes a [`Progress`] and a [`Cancel`]. A front end implements one method and draws what it
//! likes: a bar in a terminal, a widget in a notebook, or nothing ([`Silent`]).
//!
//! ```
//! use std::sync::Mutex;
//! use dissensus_core::{Event, Progress};
//!
//! #[derive(Default)]
//! struct Log(Mutex<Vec<String>>);
//! impl Progress for Log {
//!     fn report(&self, event: Event<'_>) {
//!         if let Event::Advanced { task, done, .. } = event {
//!             self.0.lock().unwrap().push(format!("{task}: {done}"));
//!         }
//!     }
//! }
//! let log = Log::default();
//! log.report(Event::Advanced { task: "votes.csv", done: 10, total: Some(20), detail: "" });
//! assert_eq!(*log.0.lock().unwrap(), ["votes.csv: 10"]);
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
