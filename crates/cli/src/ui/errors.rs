//! How an error reaches the user: once, on standard error, with a hint where there is one.

use std::process::ExitCode;

use dissensus_studies::StudyError;
use dissensus_train::{ConfigError, Place};
use dissensus_votes::ReadError;
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

fn hint(error: &anyhow::Error) -> Option<String> {
    if let Some(error) = error.downcast_ref::<ReadError>() {
        return error.problem.remedy().map(str::to_owned);
    }
    if let Some(error) = error.downcast_ref::<dissensus_predictions::AlignError>() {
        return Some(error.remedy().to_owned());
    }
    if let Some(error) = error.downcast_ref::<dissensus_store::StoreError>() {
        return error.remedy();
    }
    match error.downcast_ref::<StudyError>() {
        Some(StudyError::Store(error)) => return error.remedy(),
        Some(StudyError::Run { id, .. }) => {
            return Some(format!("`dissensus runs rm {id}` removes it; it then starts anew"));
        }
        _ => {}
    }
    if let Some(ConfigError::IsStudy { place, .. }) = error.downcast_ref() {
        let file = match place {
            Place::File { name, .. } => name.as_str(),
            _ => "FILE",
        };
        return Some(format!("`dissensus study run {file}` runs it"));
    }
    error.downcast_ref::<WriteError>()?.remedy().map(str::to_owned)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_said_once() {
        let cause = || anyhow::anyhow!("it is not there");
        assert_eq!(words(&cause().context("reading a.toml")), "reading a.toml: it is not there");
        let carried = cause().context("reading a.toml: it is not there").context("the study");
        assert_eq!(words(&carried), "the study: reading a.toml: it is not there");
    }
}
