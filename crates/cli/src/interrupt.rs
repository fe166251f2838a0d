//! Ctrl-C and SIGTERM. While work is under way that ends in order ([`hold`]), the first signal asks it to, and
//! the second ends the program at once. At all other times a signal ends the program at once: nothing is lost,
//! as every file is replaced as a whole or not at all.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use dissensus::core::Cancel;

static CANCEL: LazyLock<Cancel> = LazyLock::new(Cancel::new);
static FIRST: OnceLock<Instant> = OnceLock::new();
/// What is said when a signal comes; `None` where nothing has to end in order.
static HELD: Mutex<Option<&'static str>> = Mutex::new(None);
/// Whether a command runs; the package for Python goes on after it.
static RUNS: AtomicBool = AtomicBool::new(false);

/// Two signals within this time count as one: `timeout` and some shells signal a process and then its
/// whole group.
const TWICE: Duration = Duration::from_millis(500);

/// What training says when it is interrupted.
const TRAINING: &str = "\nending after the epochs that are under way, and writing them down (Ctrl-C \
                        again: at once, from the last checkpoint)\n";

/// Cancelled once Ctrl-C or SIGTERM has come while work was held.
pub(crate) fn cancel() -> &'static Cancel {
    &CANCEL
}

/// Marks the time in which a command runs.
pub(crate) fn running(runs: bool) {
    RUNS.store(runs, Ordering::Relaxed);
}

/// Work that ends in order, as long as this lives.
#[must_use]
pub(crate) struct Held;

impl Drop for Held {
    fn drop(&mut self) {
        *held() = None;
    }
}

fn held() -> MutexGuard<'static, Option<&'static str>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Holds the program while it trains.
pub(crate) fn hold_training() -> Held {
    hold(TRAINING)
}

/// Holds the program while it works; `message` is printed when a signal comes.
pub(crate) fn hold(message: &'static str) -> Held {
    *held() = Some(message);
    // A second listener is not an error: the first one serves.
    let _ = ctrlc::set_handler(|| {
        let (again, held) = (CANCEL.is_cancelled(), *held());
        let first = FIRST.get_or_init(Instant::now);
        match held {
            _ if again && first.elapsed() < TWICE => {}
            Some(message) if !again => {
                CANCEL.cancel();
                crate::ui::err(message);
            }
            _ if !RUNS.load(Ordering::Relaxed) => {}
            _ => std::process::exit(130),
        }
    });
    Held
}
