#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dissensus_fuzz::run("chaosnli", bytes));
libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max: usize, seed: u32| {
    dissensus_fuzz::json::mutate(data, size, max, seed)
});
