//! The program run as a user runs it, and what came of it as text.

#![allow(dead_code)]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// The program, to be run in a folder, whatever is set around it.
pub(crate) fn program(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dissensus"));
    command.args(arguments).current_dir(folder);
    for variable in ["DISSENSUS_CACHE", "DISSENSUS_MIRROR", "DISSENSUS_STORE"] {
        command.env_remove(variable);
    }
    command.env("NO_COLOR", "1").env("COLUMNS", "100");
    command
}

/// Runs the program in a folder.
pub(crate) fn dissensus(folder: &Path, arguments: &[&str]) -> Output {
    with_input(folder, arguments, b"")
}

/// Runs the program, and holds it to its exit code.
pub(crate) fn ends(code: i32, folder: impl AsRef<Path>, arguments: &[&str]) -> Output {
    let output = dissensus(folder.as_ref(), arguments);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", show(&output));
    output
}

/// A folder with one file in it.
pub(crate) fn folder_with(file: &str, text: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(file), text).unwrap();
    folder
}

/// Runs the program in a folder, with this on its standard input.
pub(crate) fn with_input(folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut child = program(folder, arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

/// Exit code, standard output and standard error.
pub(crate) fn show(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    format!(
        "exit code: {}\n--- stdout\n{}--- stderr\n{}",
        output.status.code().unwrap(),
        text(&output.stdout),
        text(&output.stderr)
    )
}
