//! How an error reaches the user: once, on standard error, with a hint where there is one.

use std::process::ExitCode;

use dissensus::{DataError, ScoreError};
use dissensus_examine::ExamineError;
use dissensus_io::{FileError, ReadError};
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
    match error.downcast_ref::<DataError>() {
        Some(DataError::Votes(error)) => return error.problem.remedy().map(str::to_owned),
        Some(DataError::Store(error)) => return error.remedy(),
        Some(DataError::Study(error)) => return error.remedy(),
        Some(DataError::NothingToEncode) => {
            return Some("`dissensus embed --text COLUMN` names the column of texts".to_owned());
        }
        _ => {}
    }
    if let Some(error) = error.downcast_ref::<ReadError>() {
        return error.problem.remedy().map(str::to_owned);
    }
    if let Some(error) = error.downcast_ref::<ScoreError>() {
        return match error {
            ScoreError::Align(error) => Some(error.remedy().to_owned()),
            ScoreError::UnknownMetric { .. } => {
                Some("`dissensus metrics list` lists the metrics".to_owned())
            }
            ScoreError::WithoutVotes { .. } => {
                Some("remove these items from the predictions first".to_owned())
            }
            ScoreError::NotPaired { .. } => {
                Some("give --a and --b as many files; they are paired in order".to_owned())
            }
            _ => None,
        };
    }
    if let Some(error) = error.downcast_ref::<dissensus_store::StoreError>() {
        return error.remedy();
    }
    if let Some(error) = error.downcast_ref::<dissensus_studies::StudyError>() {
        return error.remedy();
    }
    if let Some(error) = error.downcast_ref::<ExamineError>() {
        return examine_hint(error);
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

fn examine_hint(error: &ExamineError) -> Option<String> {
    Some(match error {
        ExamineError::NotFinished { .. } => "train its spec again until it is finished".to_owned(),
        ExamineError::NoWeights { id, .. } => format!(
            "remove the run (`dissensus runs rm {id}`) and train its spec again, or unpack it with \
             its weights"
        ),
        ExamineError::OtherData { .. } => {
            "give the spec or study that it was trained with, as in --spec study.toml".to_owned()
        }
        _ => return None,
    })
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
