//! Ctrl-C: once to stop in order, twice to stop at once.

use std::sync::{LazyLock, OnceLock};
use std::time::{Duration, Instant};

use dissensus::core::Cancel;

static CANCEL: LazyLock<Cancel> = LazyLock::new(Cancel::new);
static FIRST: OnceLock<Instant> = OnceLock::new();

/// Two signals within this time count as one: `timeout` and some shells signal a process and then its
/// whole group.
const TWICE: Duration = Duration::from_millis(500);

/// What training says when it is interrupted.
const TRAINING: &str = "\nending after the epochs that are under way, and writing them down (Ctrl-C \
                        again: at once, from the last checkpoint)\n";

/// Cancelled once Ctrl-C or SIGTERM has come and the program listens.
pub(crate) fn cancel() -> &'static Cancel {
    &CANCEL
}

/// Listens from now on, for a command that trains.
pub(crate) fn listen_while_training() {
    listen(TRAINING);
}

/// Listens from now on. `message` is printed when the signal comes.
pub(crate) fn listen(message: &'static str) {
    // A second listener is not an error: the first one serves.
    let _ = ctrlc::set_handler(move || {
        let again = CANCEL.is_cancelled();
        let first = FIRST.get_or_init(Instant::now);
        CANCEL.cancel();
        match again {
            false => crate::ui::err(message),
            true if first.elapsed() < TWICE => {}
            // Nothing is lost: every file is replaced as a whole or not at all.
            true => std::process::exit(130),
        }
    });
}
