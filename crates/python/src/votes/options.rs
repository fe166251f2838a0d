//! How votes are read, as keyword arguments: the options of `dissensus votes`, with underscores.

use dissensus::votes::ReadOptions;
use dissensus::votes::options::{Given, OPTIONS, OptionEntry, ReadOption, Takes};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

use crate::errors::value_error;
use crate::numbers::names;

/// The options that are given. `None` is as good as not given.
pub(crate) fn read_options(arguments: Option<&Bound<'_, PyDict>>) -> PyResult<ReadOptions> {
    let mut options = ReadOptions::default();
    for (key, value) in arguments.into_iter().flatten() {
        let key: String = key.extract()?;
        let Some(entry) = OPTIONS.iter().find(|entry| entry.option.name() == key) else {
            let known: Vec<&str> = OPTIONS.iter().map(|entry| entry.option.name()).collect();
            let known = known.join(", ");
            return Err(PyTypeError::new_err(format!(
                "there is no option {key:?}; there are {known}"
            )));
        };
        if !value.is_none() {
            options.set(entry.option, given(entry, &value)?).map_err(|words| {
                let value = value.str().map(|text| text.to_string()).unwrap_or_default();
                value_error(format!("{key} is {value:?}: {words}"))
            })?;
        }
    }
    Ok(ReadOptions { texts: options.text.is_some(), ..options })
}

/// A value; of an option that takes several, one alone is a list of one.
fn given(entry: &OptionEntry, value: &Bound<'_, PyAny>) -> PyResult<Given> {
    let key = entry.option.name();
    // An item may be made of several columns.
    if entry.option == ReadOption::Item && !value.is_instance_of::<PyString>() {
        return Ok(Given::Text(names(key, value)?.join(",")));
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(Given::Flag(flag.is_true()));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return text.extract().map(Given::Text);
    }
    if entry.takes == Takes::List {
        return names(key, value).map(Given::List);
    }
    let kind = value.get_type().name()?;
    Err(PyTypeError::new_err(format!("{key} is a value of type {kind}; expected a text")))
}
