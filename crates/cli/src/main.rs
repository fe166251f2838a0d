//! The command `dissensus`.

use std::process::ExitCode;

/// Large arrays are allocated and freed often (one per bootstrap replicate). The system's allocator
/// returns each to the kernel, which has to clear it again; that takes a third of the time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    dissensus_cli::main(std::env::args_os())
}
