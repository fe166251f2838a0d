//! How an error reaches the user: once, on standard error, with a hint where there is one.

use std::process::ExitCode;

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
    super::err(&format!("{} {error:#}\n", paint::bad("error:")));
    if let Some(hint) = hint(error) {
        super::err(&format!("{} {hint}\n", paint::strong("hint:")));
    }
    ExitCode::from(2)
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
    error.downcast_ref::<WriteError>()?.remedy().map(str::to_owned)
}
