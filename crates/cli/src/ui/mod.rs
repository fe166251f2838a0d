//! How everything is printed: data to standard output, the rest to standard error.

pub(crate) mod errors;
pub(crate) mod hints;
pub(crate) mod paint;
pub(crate) mod panics;
pub(crate) mod progress;
pub(crate) mod report;
pub(crate) mod runs;
pub(crate) mod table;

pub(crate) use dissensus::report::plain as text;

use std::io::Write;
use std::path::Path;

/// Prints data. A closed pipe (`| head`) is not an error: the reader has seen enough.
pub(crate) fn out(text: &str) -> std::io::Result<()> {
    ignore_closed_pipe(anstream::stdout().lock().write_all(text.as_bytes()))
}

/// Prints bytes as they are.
pub(crate) fn out_bytes(bytes: &[u8]) -> std::io::Result<()> {
    ignore_closed_pipe(std::io::stdout().lock().write_all(bytes))
}

/// A closed pipe is not an error.
pub(crate) fn ignore_closed_pipe(result: std::io::Result<()>) -> std::io::Result<()> {
    match result {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Prints a message for people. There is nothing to do when that fails.
pub(crate) fn err(text: &str) {
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

/// Prints a result as JSON.
pub(crate) fn json<T: serde::Serialize>(value: &T) -> anyhow::Result<()> {
    Ok(out(&format!("{}\n", serde_json::to_string_pretty(value)?))?)
}

/// Prints a remark that can be ignored.
pub(crate) fn remark(text: &str) {
    err(&format!("{}\n", paint::dim(text)));
}

/// Prints a note that should be read.
pub(crate) fn note(text: &str) {
    err(&format!("{} {text}\n", paint::warn("note:")));
}

/// Prints what to do.
pub(crate) fn hint(text: &str) {
    err(&format!("{} {text}\n", paint::strong("hint:")));
}

/// Prints that a file was written, and what is in it.
pub(crate) fn wrote(path: &Path, what: &str) {
    let between = if what.is_empty() { "" } else { ": " };
    err(&format!("wrote {}{between}{what}\n", path.display()));
}
