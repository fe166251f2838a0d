//! How everything is printed: data to standard output, the rest to standard error.

pub(crate) mod bars;
pub(crate) mod errors;
pub(crate) mod files;
pub(crate) mod hints;
pub(crate) mod paint;
pub(crate) mod panics;
pub(crate) mod progress;
pub(crate) mod table;
pub(crate) mod text;

use std::io::Write;

/// Prints data. A closed pipe (`| head`) is not an error: the reader has seen enough.
pub(crate) fn out(text: &str) -> std::io::Result<()> {
    ignore_closed_pipe(anstream::stdout().lock().write_all(text.as_bytes()))
}

/// Prints bytes as they are.
pub(crate) fn out_bytes(bytes: &[u8]) -> std::io::Result<()> {
    ignore_closed_pipe(std::io::stdout().lock().write_all(bytes))
}

fn ignore_closed_pipe(result: std::io::Result<()>) -> std::io::Result<()> {
    match result {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Prints a message for people. There is nothing to do when that fails.
pub(crate) fn err(text: &str) {
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}
