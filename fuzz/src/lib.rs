//! What every fuzz target calls. The checks themselves are those of the tests of the seeds.

// Those tests use more of them.
#![allow(dead_code)]

#[path = "../../crates/votes/tests/support/check.rs"]
mod check;
pub mod json;
pub mod memory;
#[path = "../../crates/dissensus/tests/support/readers.rs"]
mod readers;

use std::sync::Once;

use dissensus_io::parquet;

/// Makes a file a fuzz target; with `json`, most inputs stay JSON.
#[macro_export]
macro_rules! target {
    ($name:literal) => {
        libfuzzer_sys::fuzz_target!(|bytes: &[u8]| $crate::run($name, bytes));
    };
    ($name:literal, json) => {
        $crate::target!($name);
        libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max: usize, seed: u32| {
            $crate::json::mutate(data, size, max, seed)
        });
    };
}

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

/// Checks one input, within the memory that it may take.
pub fn run(target: &str, bytes: &[u8]) {
    begin();
    memory::limited(bytes.len(), || match readers::TARGETS.contains(&target) {
        true => readers::run(target, bytes),
        false => check::run(target, bytes),
    });
}
