//! How an error reaches the user: once, on standard error, with a hint where there is one.

use std::process::ExitCode;

use dissensus_data::Error as DataError;
use dissensus_embed::EmbedError;
use dissensus_embed::onnx::{LIBRARY_VARIABLE, RuntimeError};
use dissensus_inputs::InputError;
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
pub(crate) fn words(error: &anyhow::Error) -> String {
    let mut words = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !words.contains(&cause) {
            words += &format!(": {cause}");
        }
    }
    words
}

/// An error that went through a library as a value of its own kind, with its hint.
#[derive(Debug)]
pub(crate) struct Carried(pub(crate) anyhow::Error);

impl std::fmt::Display for Carried {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&words(&self.0))
    }
}

impl std::error::Error for Carried {}

/// The error that a library carried.
fn carried(error: &anyhow::Error) -> Option<&anyhow::Error> {
    error.chain().find_map(|cause| cause.downcast_ref::<Carried>()).map(|carried| &carried.0)
}

fn hint(error: &anyhow::Error) -> Option<String> {
    if let Some(inner) = carried(error) {
        return hint(inner);
    }
    if let Some(error) = error.downcast_ref::<ReadError>() {
        return error.problem.remedy().map(str::to_owned);
    }
    if let Some(error) = error.downcast_ref::<dissensus_predictions::AlignError>() {
        return Some(error.remedy().to_owned());
    }
    if let Some(error) = error.downcast_ref::<dissensus_store::StoreError>() {
        return error.remedy();
    }
    if let Some(error) = error.downcast_ref::<dissensus_studies::StudyError>() {
        return error.remedy();
    }
    if let Some(error) = data_error(error) {
        return data_hint(error);
    }
    if let Some(EmbedError::Runtime(error)) = error.downcast_ref() {
        return Some(runtime_hint(error));
    }
    error.downcast_ref::<WriteError>()?.remedy().map(str::to_owned)
}

/// The error of the catalogue, the cache or a download that is behind an error.
pub(crate) fn data_error(error: &anyhow::Error) -> Option<&DataError> {
    if let Some(inner) = carried(error) {
        return data_error(inner);
    }
    error.chain().find_map(|cause| match cause.downcast_ref::<InputError>() {
        Some(InputError::Data(error)) => Some(error),
        _ => cause.downcast_ref(),
    })
}

/// What to do when data are missing or cannot be downloaded.
fn data_hint(error: &DataError) -> Option<String> {
    const BY_HAND: &str = "get the file by hand, put it into a folder that has the layout of the cache, \
                           and give that folder by --from DIR";
    Some(match error {
        DataError::NotInCache { name, .. } => format!("run `dissensus data fetch {name}`"),
        DataError::NoSource { name, file, made_by: Some(script), .. } => format!(
            "make it with `python3 {script} DIR/{file}` (a script of the source repository), then \
             run `dissensus data fetch {name} --from DIR`"
        ),
        DataError::NoSource { .. } | DataError::NoMember { .. } => BY_HAND.to_owned(),
        DataError::Checksum { .. } | DataError::Size { .. } => {
            format!("try again; if it stays so, the publisher has changed the file: {BY_HAND}")
        }
        DataError::BrokeOff { .. } => {
            "run the same command again to resume the download".to_owned()
        }
        DataError::Http { status: 408 | 429 | 500..=599, .. } => {
            "the server is busy or broken; try again later".to_owned()
        }
        DataError::Http { .. } => format!("the file may have moved; {BY_HAND}"),
        DataError::Transport { .. }
        | DataError::AllSources { .. }
        | DataError::BadArchive { .. } => {
            format!("check the network and try again; or {BY_HAND}")
        }
        DataError::HubName { .. } => {
            "a model is named hf:OWNER/NAME, or hf:OWNER/NAME@COMMIT with all 40 digits".to_owned()
        }
        DataError::HubMissing { file: None, .. } => {
            "check the owner, the name and the commit at https://huggingface.co".to_owned()
        }
        DataError::HubMissing { .. } => {
            "encoders are read from config.json and model.safetensors; use a model that has both"
                .to_owned()
        }
        DataError::HubAccess { .. } => {
            "check the name; for a private or gated model, agree to its terms on its page and set \
             HF_TOKEN to a token that may read it"
                .to_owned()
        }
        _ => return None,
    })
}

/// How to get an ONNX Runtime that can be used.
fn runtime_hint(error: &RuntimeError) -> String {
    let install = "`pip install --upgrade onnxruntime`";
    match error {
        RuntimeError::NotFound { .. } => format!(
            "{install} brings it, in the active virtual environment or for python3; or set \
             {LIBRARY_VARIABLE} to the library's file; the encoders minilm and \
             hf:facebook/dinov2-small need no ONNX Runtime"
        ),
        _ => format!("{install}, or set {LIBRARY_VARIABLE} to the file of another one"),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn missing_data_come_with_how_to_get_them() {
        let path = || "svhn/test_32x32.mat".into();
        let missing =
            DataError::NotInCache { name: "svhn".into(), path: path(), found: "-".into() };
        let error = anyhow::Error::from(InputError::from(missing)).context("data.dataset");
        assert_eq!(hint(&error).unwrap(), "run `dissensus data fetch svhn`");
        let through = anyhow::Error::from(Carried(error)).context("the data of a study");
        assert_eq!(hint(&through).unwrap(), "run `dissensus data fetch svhn`");
        let made_by = Some("scripts/make.py");
        let (name, file, homepage) = ("m".into(), "m/m.onnx".into(), "h".into());
        let none = DataError::NoSource { name, file, homepage, made_by };
        let hint = hint(&anyhow::Error::from(none)).unwrap();
        assert!(hint.contains("`python3 scripts/make.py DIR/m/m.onnx`"), "{hint}");
    }

    #[test]
    fn a_missing_library_comes_with_how_to_get_it() {
        let missing = EmbedError::from(RuntimeError::NotFound { searched: Vec::new() });
        let hint = hint(&anyhow::Error::from(missing)).unwrap();
        assert!(hint.contains("pip install --upgrade onnxruntime"), "{hint}");
        assert!(hint.contains("ORT_DYLIB_PATH"), "{hint}");
    }

    #[test]
    fn a_cause_is_said_once() {
        let cause = || anyhow::anyhow!("it is not there");
        assert_eq!(words(&cause().context("reading a.toml")), "reading a.toml: it is not there");
        let carried = cause().context("reading a.toml: it is not there").context("the study");
        assert_eq!(words(&carried), "the study: reading a.toml: it is not there");
    }
}
