//! How many jobs work at a time: as many as were asked for, until one finds no memory.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Jobs at work, and the most that may be.
struct Counts {
    working: usize,
    most: usize,
}

/// Lets jobs begin while there is room.
pub(super) struct Turns {
    counts: Mutex<Counts>,
    ended: Condvar,
}

/// A job at work, until this is dropped.
pub(super) struct Turn<'a> {
    turns: &'a Turns,
    /// The most that were allowed when it began.
    most: usize,
}

impl Turns {
    pub(super) fn new(most: usize) -> Self {
        Self { counts: Mutex::new(Counts { working: 0, most }), ended: Condvar::new() }
    }

    /// Waits for room.
    pub(super) fn begin(&self) -> Turn<'_> {
        let full = |counts: &mut Counts| counts.working >= counts.most;
        let counts = self.ended.wait_while(self.counts(), full);
        let mut counts = counts.unwrap_or_else(PoisonError::into_inner);
        counts.working += 1;
        Turn { turns: self, most: counts.most }
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn<'_> {
    /// Ends a turn that found no memory beside the others: from now on only as many may work as do now
    /// without it, at least one. `None` where it was the only one that was allowed to work.
    pub(super) fn fewer(self) -> Option<usize> {
        if self.most == 1 {
            return None;
        }
        let mut counts = self.turns.counts();
        counts.most = counts.most.min(counts.working - 1).max(1);
        Some(counts.most)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.turns.counts().working -= 1;
        self.turns.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::Turns;

    #[test]
    fn fewer_jobs_work_after_one_found_no_memory() {
        let turns = Turns::new(3);
        let (first, second, third) = (turns.begin(), turns.begin(), turns.begin());
        assert_eq!(third.fewer(), Some(2));
        assert_eq!(second.fewer(), Some(1));
        drop(first);
        // Alone, there is nobody to wait for.
        assert_eq!(turns.begin().fewer(), None);
        drop(turns.begin());
    }

    #[test]
    fn a_job_waits_for_room() {
        let turns = Turns::new(1);
        let first = turns.begin();
        std::thread::scope(|scope| {
            let second = scope.spawn(|| drop(turns.begin()));
            std::thread::yield_now();
            assert!(!second.is_finished());
            drop(first);
        });
    }
}
