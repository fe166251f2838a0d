//! The threads of one run.
//!
//! Work is cut into tasks that write to different elements, so a result never depends on how many
//! threads there are, only the time does. Work too small to be worth waking a thread stays on one.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::error::EngineError;

/// Below this many floating-point operations a task is not worth a thread.
const WORTH: usize = 500_000;

/// How long a thread stays awake without a task, and how long it is waited for at the start.
const PATIENCE: Duration = Duration::from_micros(100);

/// Takes part in tasks until it is done, or until there has been none for a while.
fn stay_awake(done: &AtomicBool) {
    let mut since = Instant::now();
    while !done.load(Ordering::Relaxed) {
        match rayon::yield_now() {
            Some(rayon::Yield::Executed) => since = Instant::now(),
            _ if since.elapsed() < PATIENCE => std::hint::spin_loop(),
            _ => return,
        }
    }
}

/// Becomes true at the end, also after a panic.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The threads of one run.
pub(crate) struct Team {
    pool: Option<rayon::ThreadPool>,
    threads: usize,
    /// The instructions of this machine.
    pub(crate) arch: pulp::Arch,
}

impl Team {
    /// A team of `threads` (0: all cores).
    pub(crate) fn new(threads: usize) -> Result<Self, EngineError> {
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            n => n,
        };
        let pool = match threads {
            1 => None,
            _ => Some(
                rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .map_err(|error| EngineError::Device(format!("no threads: {error}")))?,
            ),
        };
        Ok(Self { pool, threads, arch: pulp::Arch::new() })
    }

    /// How many threads there are.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Does `work` with the team's threads at hand. They stay awake between its tasks: to wake a
    /// thread takes as long as many a task.
    pub(crate) fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        let Some(pool) = &self.pool else { return work() };
        let (awake, begun) = (AtomicUsize::new(1), AtomicBool::new(false));
        let done = AtomicBool::new(false);
        pool.scope(|scope| {
            for _ in 1..self.threads {
                scope.spawn(|_| {
                    // A thread that waits for others inside a task must not begin to stay awake
                    // there: it would not see that they are done.
                    if !begun.load(Ordering::Acquire) {
                        awake.fetch_add(1, Ordering::Relaxed);
                        stay_awake(&done);
                    }
                });
            }
            let _end = SetOnDrop(&done);
            let start = Instant::now();
            while awake.load(Ordering::Relaxed) < self.threads && start.elapsed() < PATIENCE {
                std::hint::spin_loop();
            }
            begun.store(true, Ordering::Release);
            work()
        })
    }

    /// Into how many tasks work of so many operations is cut.
    pub(crate) fn tasks(&self, operations: usize) -> usize {
        if self.threads == 1 || operations < 2 * WORTH {
            return 1;
        }
        // Some more than threads, so that one that is held up does not hold up all.
        (operations / WORTH).min(4 * self.threads)
    }

    pub(crate) fn run(&self, tasks: usize, task: impl Fn(usize) + Send + Sync) {
        match tasks {
            1 => task(0),
            _ => (0..tasks).into_par_iter().with_max_len(1).for_each(task),
        }
    }

    /// `body` on every stretch of `size` elements of `out`, with the stretch's number; `operations`
    /// in all.
    pub(crate) fn stretches<T: Send>(
        &self,
        out: &mut [T],
        size: usize,
        operations: usize,
        body: impl Fn(usize, &mut [T]) + Send + Sync,
    ) {
        if size == 0 {
            return;
        }
        if self.tasks(operations) == 1 {
            out.chunks_mut(size).enumerate().for_each(|(at, stretch)| body(at, stretch));
        } else {
            out.par_chunks_mut(size).enumerate().for_each(|(at, stretch)| body(at, stretch));
        }
    }
}
