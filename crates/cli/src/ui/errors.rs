//! How an error reaches the user: once, on standard error, with a hint where there is one.

use std::error::Error;
use std::process::ExitCode;

use super::hints::hint_of;
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

/// An error of a command that passes through the library, which knows it as an error only.
#[derive(Debug)]
pub(crate) struct Carried(pub(crate) anyhow::Error);

impl std::fmt::Display for Carried {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&words(&self.0))
    }
}

impl Error for Carried {}

/// Everything that an error consists of: its causes, and those of errors that it carries.
pub(crate) fn causes(error: &anyhow::Error) -> Vec<&(dyn Error + 'static)> {
    let mut all = Vec::new();
    for cause in error.chain() {
        all.push(cause);
        if let Some(Carried(inner)) = cause.downcast_ref() {
            all.extend(causes(inner));
        }
    }
    all
}

/// What to do about an error.
fn hint(error: &anyhow::Error) -> Option<String> {
    causes(error).into_iter().find_map(hint_of)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use dissensus::data::Error as DataError;
    use dissensus::inputs::InputError;

    #[test]
    fn missing_data_come_with_how_to_get_them() {
        let path = || "svhn/test_32x32.mat".into();
        let missing =
            DataError::NotInCache { name: "svhn".into(), path: path(), found: "-".into() };
        let error = anyhow::Error::from(InputError::from(missing)).context("data.dataset");
        assert_eq!(hint(&error).unwrap(), "run `dissensus data fetch svhn`");
        let through = anyhow::Error::from(Carried(error)).context("the data of a study");
        assert_eq!(hint(&through).unwrap(), "run `dissensus data fetch svhn`");
    }

    #[test]
    fn a_cause_is_said_once() {
        let cause = || anyhow::anyhow!("it is not there");
        assert_eq!(words(&cause().context("reading a.toml")), "reading a.toml: it is not there");
        let carried = cause().context("reading a.toml: it is not there").context("the study");
        assert_eq!(words(&carried), "the study: reading a.toml: it is not there");
    }
}
