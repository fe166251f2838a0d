//! Ctrl-C: once to stop after the epoch, twice to stop at once.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use dissensus::core::Cancel;

static FIRST: OnceLock<Instant> = OnceLock::new();

/// Two signals within this time count as one: `timeout` and some shells signal a process and then its
/// whole group.
const TWICE: Duration = Duration::from_millis(500);

/// Listens from now on: cancelled once Ctrl-C or SIGTERM has come.
pub(crate) fn on_interrupt() -> &'static Cancel {
    static CANCEL: OnceLock<Cancel> = OnceLock::new();
    let cancel = CANCEL.get_or_init(Cancel::new);
    // A second listener is not an error: the first one serves.
    let _ = ctrlc::set_handler(|| {
        let again = cancel.is_cancelled();
        let first = FIRST.get_or_init(Instant::now);
        cancel.cancel();
        if again {
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
    cancel
}
