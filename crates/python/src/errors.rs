//! Errors of the library as exceptions that Python people expect.

use std::error::Error as StdError;
use std::io::ErrorKind;

use dissensus::cluster::ClusterError;
use dissensus::data::Error as DataError;
use dissensus::io::{FileError, Problem, ReadError, ReadOption, Way};
use dissensus::labels::LabelError;
use dissensus::predictions::{AlignError, PredictionError};
use dissensus::remote::RemoteError;
use dissensus::studies::StudyError;
use dissensus::train::DeviceError;
use dissensus::votes::formats::FORMATS;
use dissensus::votes::write::WriteError;
use dissensus::{ScoreError, causes};
use pyo3::exceptions::{
    PyFileExistsError, PyFileNotFoundError, PyKeyboardInterrupt, PyMemoryError, PyOSError,
    PyPermissionError, PyRuntimeError, PyValueError,
};
use pyo3::prelude::*;

/// The exception for an error of the library: what cannot be found or opened is an `OSError`, what cannot be
/// done on this machine a `RuntimeError`, and everything else that was given a `ValueError`.
pub(crate) fn raise(error: impl Into<dissensus::Error>) -> PyErr {
    raise_in_words(error, |words| words)
}

/// As [`raise`], with a line for each way in which predictions are certainly read right: the arguments
/// that are missing.
pub(crate) fn raise_with_ways(error: impl Into<dissensus::Error>, ways: &[Way]) -> PyErr {
    raise_in_words(error, |words| {
        ways.iter().fold(words, |words, way| {
            format!("{words}\ntry: {}   # {}", keywords(way).join(", "), way.gives)
        })
    })
}

/// As [`raise`], with other words.
pub(crate) fn raise_in_words(
    error: impl Into<dissensus::Error>,
    other: impl FnOnce(String) -> String,
) -> PyErr {
    let error: dissensus::Error = error.into();
    let remedy = causes(&error).into_iter().find_map(remedy);
    let mut words = words(&error) + &remedy.map_or(String::new(), |remedy| format!("; {remedy}"));
    if let Some(advice) = causes(&error).into_iter().find_map(advice) {
        words += &advice;
    }
    exception(&error, other(words))
}

/// What to do about an error, in the words of Python: what is an option of the command line is an argument here.
fn remedy(cause: &(dyn StdError + 'static)) -> Option<String> {
    if let Some(ReadError { problem, .. }) = cause.downcast_ref() {
        let formats = || {
            let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
            names.join(", ")
        };
        return match problem {
            Problem::UnknownFormat { .. } => Some(format!(
                "name the columns with `item`, `annotator` and `label` (or `annotators` where each has one), or the \
                 `format`: {}",
                formats()
            )),
            Problem::NoSuchFormat { .. } => Some(format!("there are {}", formats())),
            _ => problem.remedy().map(|text| arguments(text, problem.options())),
        };
    }
    if let Some(FileError::Occupied { .. }) = cause.downcast_ref() {
        return Some("`force=True` writes into it all the same".to_owned());
    }
    if let Some(WriteError::Texts { .. }) = cause.downcast_ref() {
        return Some(
            "write .csv or .parquet, which hold them, or leave them out with `texts=False`"
                .to_owned(),
        );
    }
    if let Some(FileError::Exists { .. }) = cause.downcast_ref() {
        return Some("`force=True` replaces it".to_owned());
    }
    if let Some(error) = cause.downcast_ref::<AlignError>() {
        return Some(arguments(&error.remedy(), error.options()));
    }
    if let Some(PredictionError { problem, .. }) = cause.downcast_ref() {
        return problem.remedy().map(|text| arguments(text, problem.options()));
    }
    if let Some(ScoreError::UnknownMetric { nearest, .. }) = cause.downcast_ref() {
        let nearest = nearest.first().map(|name| format!("did you mean {name:?}?"));
        return nearest.or_else(|| Some("metrics.names() lists them".to_owned()));
    }
    if let Some(ClusterError::InQueue { .. }) = cause.downcast_ref() {
        return Some("`Study.cancel` removes them".to_owned());
    }
    match cause.downcast_ref() {
        Some(LabelError::NotHard { .. }) => Some("`targets(epoch)` gives them".to_owned()),
        _ => None,
    }
}

/// The columns of a refused file, and the calls that read it, one per line.
fn advice(cause: &(dyn StdError + 'static)) -> Option<String> {
    let error: &ReadError = cause.downcast_ref()?;
    let advice = error.advice.as_deref()?;
    let mut lines = String::new();
    for line in &advice.profile {
        lines += &format!("\n  {line}");
    }
    for way in &advice.ways {
        let mut call = vec![serde_json::json!(error.file).to_string()];
        call.extend(keywords(way));
        lines += &format!("\ntry: dissensus.Votes.read({})   {}", call.join(", "), way.gives);
    }
    Some(lines)
}

/// The options of a way as arguments.
fn keywords(way: &Way) -> Vec<String> {
    let argument = |(name, value): (&String, &serde_json::Value)| match (name.as_str(), value) {
        ("logits" | "probabilities" | "answers", _) => format!("kind={name:?}"),
        (_, serde_json::Value::Bool(true)) => format!("{name}=True"),
        (_, serde_json::Value::Bool(false)) => format!("{name}=False"),
        (_, value) => format!("{name}={value}"),
    };
    way.options.iter().map(argument).collect()
}

/// A text of the library with its options as arguments: `` `values = counts` `` is `` `values="counts"` ``.
fn arguments(text: &str, options: &[ReadOption]) -> String {
    let word = |(i, part): (usize, &str)| match (i % 2, part.split_once(" = ")) {
        (0, _) => part.to_owned(),
        (_, None) if matches!(part, "logits" | "probabilities") => format!("`kind={part:?}`"),
        (_, Some((name, value))) if options.iter().any(|option| option.name() == name) => {
            match value {
                "true" => format!("`{name}=True`"),
                "false" => format!("`{name}=False`"),
                value => format!("`{name}={value:?}`"),
            }
        }
        _ => format!("`{part}`"),
    };
    text.split('`').enumerate().map(word).collect()
}

/// A `ValueError` in our own words.
pub(crate) fn value_error(words: impl Into<String>) -> PyErr {
    PyValueError::new_err(words.into())
}

/// An error with its causes. Some messages hold their cause, which is then not repeated.
fn words(error: &(dyn StdError + 'static)) -> String {
    let mut words = String::new();
    for cause in causes(error).iter().map(ToString::to_string) {
        if words.is_empty() {
            words = cause;
        } else if !words.contains(&cause) {
            words += &format!(": {cause}");
        }
    }
    words
}

fn exception(error: &(dyn StdError + 'static), words: String) -> PyErr {
    for cause in causes(error) {
        let kind = match cause.downcast_ref() {
            Some(FileError::Exists { .. } | FileError::Occupied { .. }) => {
                Some(ErrorKind::AlreadyExists)
            }
            Some(FileError::NotAFile { .. } | FileError::InStore { .. }) => {
                Some(ErrorKind::InvalidInput)
            }
            Some(FileError::Io { error, .. }) => Some(error.kind()),
            None => match cause.downcast_ref() {
                Some(ReadError { problem: Problem::Io(error), .. }) => Some(error.kind()),
                _ => cause.downcast_ref().map(std::io::Error::kind),
            },
        };
        if let Some(kind) = kind {
            return match kind {
                ErrorKind::NotFound => PyFileNotFoundError::new_err(words),
                ErrorKind::PermissionDenied => PyPermissionError::new_err(words),
                ErrorKind::AlreadyExists => PyFileExistsError::new_err(words),
                ErrorKind::OutOfMemory => PyMemoryError::new_err(words),
                ErrorKind::InvalidData | ErrorKind::InvalidInput => PyValueError::new_err(words),
                _ => PyOSError::new_err(words),
            };
        }
        if let Some(dissensus::TrainError::Cancelled { .. }) = cause.downcast_ref() {
            return PyKeyboardInterrupt::new_err(words);
        }
        if let Some(dissensus::store::StoreError::NoStore { .. }) = cause.downcast_ref() {
            return PyFileNotFoundError::new_err(words);
        }
        if let Some(DataError::NotInCache { .. } | DataError::MirrorMissing { .. }) =
            cause.downcast_ref()
        {
            return PyFileNotFoundError::new_err(words);
        }
        if let Some(StudyError::Unfinished { .. }) = cause.downcast_ref() {
            return PyRuntimeError::new_err(words);
        }
        if let Some(
            ClusterError::Failed { .. }
            | ClusterError::InQueue { .. }
            | ClusterError::NotSubmitted { .. },
        ) = cause.downcast_ref()
        {
            return PyRuntimeError::new_err(words);
        }
        if let Some(RemoteError::Request { .. }) = cause.downcast_ref() {
            return PyOSError::new_err(words);
        }
        if let Some(dissensus::Error::Device(DeviceError::Engine(_))) = cause.downcast_ref() {
            return PyRuntimeError::new_err(words);
        }
    }
    PyValueError::new_err(words)
}

/// The exception for a panic, which is a bug of ours.
pub(crate) fn bug(panic: &(dyn std::any::Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
    PyRuntimeError::new_err(format!(
        "{text}. This is a bug in dissensus; please report it with what led here"
    ))
}
