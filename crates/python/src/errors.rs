//! Errors of the library as exceptions that Python people expect.

use std::error::Error as StdError;
use std::io::ErrorKind;

use dissensus::causes;
use dissensus::data::Error as DataError;
use pyo3::exceptions::{
    PyFileExistsError, PyFileNotFoundError, PyKeyboardInterrupt, PyMemoryError, PyOSError,
    PyPermissionError, PyRuntimeError, PyValueError,
};
use pyo3::prelude::*;

/// The exception for an error of the library: what cannot be found or opened is an `OSError`, what cannot be
/// done on this machine a `RuntimeError`, and everything else that was given a `ValueError`.
pub(crate) fn raise(error: impl Into<dissensus::Error>) -> PyErr {
    let error: dissensus::Error = error.into();
    exception(&error, words(&error))
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
        if let Some(io) = cause.downcast_ref::<std::io::Error>() {
            return match io.kind() {
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
        if cause.is::<dissensus::train::DeviceError>() {
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
