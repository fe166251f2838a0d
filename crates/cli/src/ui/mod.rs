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

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::args::quoted;

/// Prints text for people. A closed pipe (`| head`) is not an error: the reader has seen enough.
pub(crate) fn out(text: &str) -> std::io::Result<()> {
    let text = paint::rendered(text);
    ignore_closed_pipe(anstream::stdout().lock().write_all(text.as_bytes()))
}

/// Prints data: as they are into files and pipes, and as text on a terminal.
pub(crate) fn data(bytes: &[u8]) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    if stdout.is_terminal() {
        return out(&String::from_utf8_lossy(bytes));
    }
    ignore_closed_pipe(stdout.write_all(bytes))
}

/// Writes data as [`data`] prints them.
pub(crate) struct DataWriter;

impl Write for DataWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        data(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stdout().flush()
    }
}

/// A closed pipe is not an error.
fn ignore_closed_pipe(result: std::io::Result<()>) -> std::io::Result<()> {
    match result {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Prints a message for people. There is nothing to do when that fails.
pub(crate) fn err(text: &str) {
    let _ = anstream::stderr().lock().write_all(paint::rendered(text).as_bytes());
}

/// Prints a result as JSON.
pub(crate) fn json<T: serde::Serialize>(value: &T) -> anyhow::Result<()> {
    Ok(data(format!("{}\n", serde_json::to_string_pretty(value)?).as_bytes())?)
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

/// The arguments of this command. Those of the process are an interpreter's in the Python package.
static ARGUMENTS: Mutex<Vec<OsString>> = Mutex::new(Vec::new());

/// Keeps the arguments for [`same_command`].
pub(crate) fn keep_arguments(arguments: &[OsString]) {
    *ARGUMENTS.lock().unwrap_or_else(PoisonError::into_inner) = arguments.to_vec();
}

/// This command, to be typed again.
pub(crate) fn same_command() -> String {
    let arguments = ARGUMENTS.lock().unwrap_or_else(PoisonError::into_inner);
    let arguments = arguments.iter().skip(1).map(|argument| quoted(Path::new(argument)));
    std::iter::once("dissensus".to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}
