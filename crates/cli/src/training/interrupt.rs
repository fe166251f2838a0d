//! Ctrl-C: once to end after the epoch, twice to end at once.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

static ASKED: AtomicBool = AtomicBool::new(false);
static FIRST: OnceLock<Instant> = OnceLock::new();

/// Two that come closer than this are one: `timeout` and some shells send a signal to a process and
/// then to all of its group.
const TWICE: Duration = Duration::from_millis(500);

/// Listens from now on: set once Ctrl-C (or a polite request to end) has come.
pub(crate) fn on_interrupt() -> &'static AtomicBool {
    // A second listener is not an error: the first one serves.
    let _ = ctrlc::set_handler(|| {
        let first = FIRST.get_or_init(Instant::now);
        if ASKED.swap(true, Ordering::Relaxed) {
            if first.elapsed() < TWICE {
                return;
            }
            // Nothing is lost: every file is replaced as a whole or not at all.
            std::process::exit(130);
        }
        crate::ui::err(
            "\nending after the epochs that are under way, and writing them down \
             (Ctrl-C again: at once, from the last checkpoint)\n",
        );
    });
    &ASKED
}
