//! Runs that take turns: with more than two at a time on a GPU whose cache holds the activations of two, each finds
//! less of its own there.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Runs that train an epoch at the same time.
const AT_ONCE: u64 = 2;
/// After so long a run trains in any case: turns make training faster, nothing depends on them.
const PATIENCE: Duration = Duration::from_secs(2);

/// The turns of a GPU's runs, in the order in which they are asked for.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// How many were asked for, and how many are over.
    counts: Mutex<(u64, u64)>,
    over: Condvar,
}

/// A turn, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn(Arc<Turns>);

impl Turns {
    /// Waits for a turn.
    pub(super) fn take(self: &Arc<Self>) -> Turn {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let mine = counts.0;
        counts.0 += 1;
        let waits = |counts: &mut (u64, u64)| mine >= counts.1 + AT_ONCE;
        drop(self.over.wait_timeout_while(counts, PATIENCE, waits));
        Turn(self.clone())
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.counts.lock().unwrap_or_else(PoisonError::into_inner).1 += 1;
        self.0.over.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// A third run waits until one of two is done, and the first that asked is the first to go on.
    #[test]
    fn runs_take_turns() {
        let turns = Arc::new(Turns::default());
        let (first, _second) = (turns.take(), turns.take());
        let (sender, receiver) = mpsc::channel();
        std::thread::scope(|scope| {
            let turns = &turns;
            scope.spawn(move || {
                let turn = turns.take();
                let _ = sender.send(());
                drop(turn);
            });
            assert!(receiver.recv_timeout(Duration::from_millis(50)).is_err());
            drop(first);
            assert!(receiver.recv_timeout(PATIENCE / 2).is_ok());
        });
    }
}
