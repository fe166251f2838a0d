//! What every fuzz target calls. The checks themselves are those of the corpus test.

// That test uses more of them.
#![allow(dead_code)]

#[path = "../../crates/votes/tests/support/check.rs"]
mod check;
pub mod json;

use std::sync::Once;

use dissensus_io::parquet;

/// Before the first input: one thread, and panics that the Parquet reader catches are no crashes.
fn begin() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
        one.build_global().expect("the first pool");
        // libFuzzer's own hook prints and aborts.
        let abort = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !parquet::is_guarded() {
                abort(panic);
            }
        }));
    });
}

/// Checks one input.
pub fn run(target: &str, bytes: &[u8]) {
    begin();
    check::run(target, bytes);
}
