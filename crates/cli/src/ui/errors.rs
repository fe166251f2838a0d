//! How an error reaches the user: once, on standard error, with a hint where there is one.

use std::process::ExitCode;

use dissensus_inputs::InputError;
use dissensus_io::{FileError, Problem, ReadError, ReadOption};
use dissensus_store::{Remedy, StoreError};
use dissensus_studies::StudyError;
use dissensus_votes::write::WriteError;

use super::paint;

/// Prints an error and gives the exit code.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    // A pipe that nobody reads any more: nobody reads a message either.
    let io = error.downcast_ref::<std::io::Error>();
    if io.is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe) {
        return ExitCode::SUCCESS;
    }
    super::err(&format!("{} {}\n", paint::bad("error:"), words(error)));
    if let Some(hint) = hint(error) {
        super::err(&format!("{} {hint}\n", paint::strong("hint:")));
    }
    ExitCode::from(2)
}

/// An error with its causes. Some messages hold their cause, which is then not said again.
fn words(error: &anyhow::Error) -> String {
    let mut words = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !words.contains(&cause) {
            words += &format!(": {cause}");
        }
    }
    words
}

/// A text of a library with its options as flags: `` `values = counts` `` is `--values counts`.
pub(crate) fn flags(text: &str, options: &[ReadOption]) -> String {
    let is_option = |part: &str| options.iter().any(|o| part.split(" = ").next() == Some(o.name()));
    let word = |(i, part): (usize, &str)| match i % 2 {
        0 => part.to_owned(),
        _ if is_option(part) => format!("--{}", part.replace(" = ", " ")),
        _ => format!("`{part}`"),
    };
    text.split('`').enumerate().map(word).collect()
}

/// What can be done about an error of a store.
pub(crate) fn store_hint(error: &StoreError) -> Option<String> {
    Some(match error.remedy()? {
        Remedy::RemoveRun(id) => {
            format!("`dissensus runs rm {id}` removes it; it then starts anew")
        }
        Remedy::KeepOne(id) => {
            format!("keep one of them in another store, or `dissensus runs rm {id}`")
        }
        Remedy::ListRuns => "`dissensus runs` lists them".to_owned(),
        Remedy::Words(words) => words.to_owned(),
    })
}

fn read_hint(problem: &Problem) -> Option<String> {
    match problem {
        Problem::UnknownFormat { .. } => Some(
            "force one with --format (`dissensus votes formats` lists them), or name the columns \
             with --item, --annotator and --label"
                .to_owned(),
        ),
        Problem::NoSuchFormat { .. } => Some("`dissensus votes formats` lists them".to_owned()),
        _ => problem.remedy().map(|text| flags(text, problem.options())),
    }
}

fn hint(error: &anyhow::Error) -> Option<String> {
    if let Some(error) = error.downcast_ref::<ReadError>() {
        return read_hint(&error.problem);
    }
    let inputs = error.chain().find_map(|cause| cause.downcast_ref::<InputError>());
    if let Some(InputError::Dataset { name, .. }) = inputs {
        return Some(format!("dissensus data fetch {name} --force"));
    }
    if let Some(error) = error.downcast_ref::<dissensus_predictions::AlignError>() {
        return Some(flags(error.remedy(), error.options()));
    }
    if let Some(error) = error.downcast_ref::<StoreError>() {
        return store_hint(error);
    }
    match error.downcast_ref::<StudyError>() {
        Some(StudyError::Store(error)) => return store_hint(error),
        Some(error) => return error.remedy(),
        None => {}
    }
    let force = || Some("--force replaces it".to_owned());
    if let Some(FileError::Exists { .. }) = error.downcast_ref::<FileError>() {
        return force();
    }
    match error.downcast_ref::<WriteError>()? {
        WriteError::File(FileError::Exists { .. }) => force(),
        WriteError::UnknownTarget { .. } => {
            Some("end it in .csv, .parquet or .npz, or say --to".to_owned())
        }
        WriteError::NoVotes { .. } => Some("write .npz, which holds probabilities".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn options_become_flags() {
        let text = "say `values = counts`, or name the `label` of a column `id`";
        let wanted = "say --values counts, or name the --label of a column `id`";
        assert_eq!(flags(text, &[ReadOption::Values, ReadOption::Label]), wanted);
    }

    #[test]
    fn a_cause_is_said_once() {
        let cause = || anyhow::anyhow!("it is not there");
        assert_eq!(words(&cause().context("reading a.toml")), "reading a.toml: it is not there");
        let carried = cause().context("reading a.toml: it is not there").context("the study");
        assert_eq!(words(&carried), "the study: reading a.toml: it is not there");
    }
}
