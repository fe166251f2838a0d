//! Ctrl-C: once to end after the epoch, twice to end at once.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// Listens from now on: set once Ctrl-C (or a polite request to end) has come.
pub(crate) fn on_interrupt() -> &'static AtomicBool {
    // A second listener is not an error: the first one serves.
    let _ = ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::Relaxed) {
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
