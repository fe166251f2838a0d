#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dissensus_fuzz::run("toloka", bytes));
