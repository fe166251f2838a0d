//! Work without the interpreter's lock: other threads of Python go on, Ctrl-C stops it, progress is shown.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dissensus::core::Unit;
use dissensus::{Cancel, Event, Progress};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::{bug, raise};

/// The process that loaded the module. One that is forked from it has none of its threads.
static LOADED_BY: AtomicU32 = AtomicU32::new(0);
/// Threads of a forked process, by its id.
static FORKED: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Remembers which process loaded the module.
pub(crate) fn remember_process() {
    LOADED_BY.store(std::process::id(), Ordering::Relaxed);
}

/// Runs work where it finds threads: in a forked process (a worker of a data loader) the usual ones do not exist, and
/// waiting for them would never end.
fn with_threads<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let own = std::process::id();
    if LOADED_BY.load(Ordering::Relaxed) == own {
        return work();
    }
    let mut forked = FORKED.lock().unwrap_or_else(PoisonError::into_inner);
    let threads = match &*forked {
        Some((process, threads)) if *process == own => Some(Arc::clone(threads)),
        _ => ThreadPoolBuilder::new().build().ok().map(Arc::new),
    };
    *forked = threads.clone().map(|threads| (own, threads));
    drop(forked);
    match threads {
        Some(threads) => threads.install(work),
        None => work(),
    }
}

/// Runs short work (up to about a second) without the interpreter's lock.
pub(crate) fn detached<T: Send, E: Into<dissensus::Error> + Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, E> + Send,
) -> PyResult<T> {
    match py.detach(|| catch_unwind(AssertUnwindSafe(|| with_threads(work)))) {
        Ok(result) => result.map_err(raise),
        Err(panic) => Err(bug(panic.as_ref())),
    }
}

/// Runs long work in a thread of its own. Meanwhile this thread shows progress, where `show` is a callable that takes the
/// name of an event and its values (see `package/dissensus/_progress.py`), and listens to Ctrl-C, which cancels the work.
pub(crate) fn long<T: Send, E: Into<dissensus::Error> + Send>(
    py: Python<'_>,
    show: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&dyn Progress, &Cancel) -> Result<T, E> + Send,
) -> PyResult<T> {
    let (sender, events) = channel();
    let (cancel, listening) = (Cancel::new(), show.is_some());
    std::thread::scope(|scope| {
        let token = cancel.clone();
        let worker =
            scope.spawn(move || reporting(sender, listening, |progress| work(progress, &token)));
        let watched = watch(py, show, &Mutex::new(events));
        if watched.is_err() {
            cancel.cancel();
        }
        let result = py.detach(|| worker.join());
        watched?;
        outcome(result)
    })
}

/// Runs work that cannot be cancelled in a thread of its own, as [`long`]. After Ctrl-C nobody waits for it.
pub(crate) fn left_alone<T: Send + 'static, E: Into<dissensus::Error> + Send + 'static>(
    py: Python<'_>,
    show: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&dyn Progress) -> Result<T, E> + Send + 'static,
) -> PyResult<T> {
    let (sender, events) = channel();
    let listening = show.is_some();
    let worker = std::thread::spawn(move || reporting(sender, listening, work));
    watch(py, show, &Mutex::new(events))?;
    outcome(py.detach(|| worker.join()))
}

/// Does the work of a thread and says when it is done.
fn reporting<T: Send, E: Send>(
    sender: Sender<Said>,
    listening: bool,
    work: impl FnOnce(&dyn Progress) -> Result<T, E> + Send,
) -> std::thread::Result<Result<T, E>> {
    let progress = Queue(listening.then(|| sender.clone()));
    let result = catch_unwind(AssertUnwindSafe(|| with_threads(|| work(&progress))));
    let _ = sender.send(Said::Done);
    result
}

/// What a thread ended with.
fn outcome<T, E: Into<dissensus::Error>>(
    joined: std::thread::Result<std::thread::Result<Result<T, E>>>,
) -> PyResult<T> {
    match joined.and_then(|ended| ended) {
        Ok(result) => result.map_err(raise),
        Err(panic) => Err(bug(panic.as_ref())),
    }
}

/// What shows progress, from the argument `progress` of a function.
pub(crate) fn shower<'py>(
    py: Python<'py>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    py.import("dissensus._progress")?.call_method1("shower", (progress,))
}

/// What shows progress, by the option `progress` of a call.
pub(crate) fn shown<'py>(options: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
    shower(options.py(), options.get_item("progress")?)
}

/// Hands events to `show` until the work is done. Ctrl-C, and what `show` raises, end it early.
fn watch(
    py: Python<'_>,
    show: Option<&Bound<'_, PyAny>>,
    events: &Mutex<Receiver<Said>>,
) -> PyResult<()> {
    loop {
        let said = py.detach(|| {
            let events = events.lock().unwrap_or_else(PoisonError::into_inner);
            events.recv_timeout(Duration::from_millis(50))
        });
        py.check_signals()?;
        match (said, show) {
            (Err(RecvTimeoutError::Timeout), _) => {}
            (Err(RecvTimeoutError::Disconnected) | Ok(Said::Done), _) => return Ok(()),
            (Ok(Said::Event(kind, task, done, total, detail)), Some(show)) => {
                show.call1((kind, task, done, total, detail))?;
            }
            (Ok(Said::Event(..)), None) => {}
        }
    }
}

enum Said {
    /// Kind, task or text, steps done, steps in all, details.
    Event(&'static str, String, u64, Option<u64>, String),
    Done,
}

/// Events on their way to the thread that holds the interpreter.
struct Queue(Option<Sender<Said>>);

impl Progress for Queue {
    fn report(&self, event: Event<'_>) {
        let Some(sender) = &self.0 else { return };
        let said = |kind, task: &str, done, total, detail: &str| {
            Said::Event(kind, task.to_owned(), done, total, detail.to_owned())
        };
        let _ = sender.send(match event {
            Event::Started { task, total, unit: Unit::Bytes } => {
                said("started", task, 0, total, "bytes")
            }
            Event::Started { task, total, unit: Unit::Steps } => {
                said("started", task, 0, total, "")
            }
            Event::Advanced { task, done, total, detail } => {
                said("advanced", task, done, total, detail)
            }
            Event::Finished { task } => said("finished", task, 0, None, ""),
            Event::Note(text) => said("note", text, 0, None, ""),
            Event::Warning(text) => said("warning", text, 0, None, ""),
            _ => return,
        });
    }
}
