//! Every fuzz target in one program, which links the readers once: `TARGET` names one of the folders of `seeds`.

#![no_main]

// The tests of the seeds use more of these checks.
#[allow(dead_code)]
#[path = "../../crates/votes/tests/support/check.rs"]
mod check;
mod json;
mod memory;
#[allow(dead_code)]
#[path = "../../crates/dissensus/tests/support/readers.rs"]
mod readers;

use std::sync::LazyLock;

use dissensus_io::parquet;
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

/// Targets whose inputs are JSON documents.
const JSON: [&str; 9] = [
    "argilla",
    "chaosnli",
    "huggingface",
    "label-studio",
    "lewidi-2023",
    "lewidi-2025",
    "peerannot",
    "prodigy",
    "tokenizer",
];

struct Target {
    name: String,
    run: fn(&str, &[u8]),
    is_json: bool,
}

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("TARGET").unwrap_or_default();
    let run = match readers::TARGETS.contains(&name.as_str()) {
        true => readers::run,
        false if check::targets().any(|other| other == name) => check::run,
        false => panic!("there is no target {name:?}"),
    };
    let is_json = JSON.contains(&name.as_str());
    Target { name, run, is_json }
});

/// Before the first input: one thread, and panics that the Parquet reader catches are no crashes.
fn begin() {
    LazyLock::force(&TARGET);
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    one.build_global().expect("the first pool");
    // libFuzzer's own hook prints and aborts.
    let abort = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !parquet::is_guarded() {
            abort(panic);
        }
    }));
}

// One input is checked within the memory that it may take.
fuzz_target!(init: begin(), |bytes: &[u8]| {
    memory::limited(bytes.len(), || (TARGET.run)(&TARGET.name, bytes));
});

fuzz_mutator!(|data: &mut [u8], size: usize, max: usize, seed: u32| {
    match TARGET.is_json {
        true => json::mutate(data, size, max, seed),
        false => fuzzer_mutate(data, size, max),
    }
});
