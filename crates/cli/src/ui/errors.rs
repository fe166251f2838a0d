//! How an error reaches the user: once, on standard error, with a hint where there is one.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use dissensus::causes;
use dissensus::io::{Advice, ReadError, Way};
use dissensus::report::plain::is_unsafe;
use serde_json::Value;

use super::hints::hint_of;
use super::{paint, text};
use crate::args::quoted;
use crate::interrupt;

/// Prints an error and gives the exit code.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    // A pipe that nobody reads any more: nobody reads a message either.
    let io = error.downcast_ref::<std::io::Error>();
    if io.is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe) {
        return ExitCode::SUCCESS;
    }
    if interrupt::cancel().is_cancelled() {
        super::err(&format!("{}\n", paint::warn("interrupted")));
        return ExitCode::from(130);
    }
    super::err(&format!("{} {}\n", paint::bad("error:"), words(error)));
    advice_of(error).into_iter().for_each(print_advice);
    hint(error).iter().for_each(|hint| super::hint(hint));
    if let Some(Advised { remarks, ways, .. }) = error.downcast_ref() {
        remarks.iter().for_each(|remark| super::remark(remark));
        ways.iter().for_each(|way| super::err(&format!("try: {way}\n")));
    }
    ExitCode::from(2)
}

/// An error with what its file has, and commands that read it right.
#[derive(Debug)]
struct Advised {
    words: String,
    remarks: Vec<String>,
    ways: Vec<String>,
}

impl std::fmt::Display for Advised {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.words)
    }
}

/// Adds advice on a file of predictions. Commands are given for a command about this file alone.
pub(crate) fn advised(
    error: anyhow::Error,
    (file, advice): &(PathBuf, Advice),
    alone: bool,
) -> anyhow::Error {
    let mut remarks = Vec::new();
    if !advice.profile.is_empty() {
        remarks.push(format!("columns of {}:", file.display()));
        let lines = advice.profile.iter().take(SHOWN_COLUMNS).map(|column| format!("  {column}"));
        remarks.extend(lines);
        let more = advice.profile.len().saturating_sub(SHOWN_COLUMNS);
        remarks.extend((more > 0).then(|| format!("  and {more} more")));
    }
    let command = |way: &Way| format!("{} {}   # {}", super::same_command(), flags(way), way.gives);
    let ways = if alone { advice.ways.iter().map(command).collect() } else { Vec::new() };
    let words = words(&error);
    error.context(Advised { words, remarks, ways })
}

/// Columns that are shown of a refused table.
const SHOWN_COLUMNS: usize = 20;

/// Prints what is wrong with the command line, or the help that was asked for, and exits. What was
/// typed cannot steer the terminal.
pub(crate) fn exit_with_usage(error: &clap::Error) -> ! {
    let plain = error.render().to_string();
    let control = |c: char| is_unsafe(c) && c != '\n' && c != '\t';
    if plain.contains(control) {
        super::err(&plain);
        std::process::exit(error.exit_code());
    }
    error.exit()
}

/// An error with its causes. Some messages hold their cause, which is then not repeated.
pub(crate) fn words(error: &anyhow::Error) -> String {
    let mut words = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !words.contains(&cause) {
            words += &format!(": {cause}");
        }
    }
    words
}

/// The file that could not be read, and what was found out about it.
fn advice_of(error: &anyhow::Error) -> Option<(&str, &Advice)> {
    causes(error.as_ref()).into_iter().find_map(|cause| {
        let error: &ReadError = cause.downcast_ref()?;
        Some((error.file.as_str(), error.advice.as_deref()?))
    })
}

/// Prints the columns of a file, and the commands that read it.
fn print_advice((file, advice): (&str, &Advice)) {
    for line in &advice.profile {
        super::err(&format!("  {}\n", text::one_line(line, 200)));
    }
    let file = if file == "standard input" { "-" } else { file };
    for way in &advice.ways {
        let command = format!("dissensus votes inspect {} {}", shell(file), flags(way));
        super::err(&format!("{} {command}   # {}\n", paint::strong("try:"), way.gives));
    }
}

/// The options of a way as flags.
fn flags(way: &Way) -> String {
    let flag = |(name, value): (&String, &Value)| {
        let flag = name.replace('_', "-");
        match value {
            Value::Bool(true) => format!("--{flag}"),
            Value::Bool(false) => format!("--no-{flag}"),
            Value::Array(list) => {
                let list: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
                format!("--{flag} {}", shell(&list.join(",")))
            }
            Value::String(text) => format!("--{flag} {}", shell(text)),
            other => format!("--{flag} {other}"),
        }
    };
    way.options.iter().map(flag).collect::<Vec<_>>().join(" ")
}

/// A word as a shell takes it; a `#` alone would begin a comment.
fn shell(word: &str) -> String {
    quoted(Path::new(word))
}

/// What to do about an error.
fn hint(error: &anyhow::Error) -> Option<String> {
    hint_of(&causes(error.as_ref()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use dissensus::data::Error as DataError;
    use dissensus::inputs::InputError;
    use dissensus::studies::StudyError;

    #[test]
    fn missing_data_come_with_how_to_get_them() {
        let missing = || {
            let path = "svhn/test_32x32.mat".into();
            let missing = DataError::NotInCache { name: "svhn".into(), path, found: "-".into() };
            InputError::from(missing)
        };
        let error = anyhow::Error::from(missing()).context("data.dataset");
        assert_eq!(hint(&error).unwrap(), "run `dissensus data fetch svhn`");
        let study = StudyError::Load { dataset: "svhn".into(), source: missing().into() };
        let whole = hint(&dissensus::Error::from(study).into()).unwrap();
        assert!(whole.starts_with("run `dissensus data fetch svhn`, or give --fetch"), "{whole}");
    }

    #[test]
    fn a_program_without_buckets_says_how_to_get_them() {
        let missing = dissensus::remote::RemoteError::NoCloud { scheme: "s3" };
        let error = anyhow::Error::from(dissensus::Error::from(missing));
        assert!(words(&error).contains("without the feature `cloud`, which s3:// needs"));
        assert!(hint(&error).unwrap().starts_with("use the Python package"));
    }

    #[test]
    fn a_cause_is_said_once() {
        let cause = || anyhow::anyhow!("it is not there");
        assert_eq!(words(&cause().context("reading a.toml")), "reading a.toml: it is not there");
        let carried = cause().context("reading a.toml: it is not there").context("the study");
        assert_eq!(words(&carried), "the study: reading a.toml: it is not there");
    }
}
