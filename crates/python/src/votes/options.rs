//! How votes are read, as keyword arguments: the options of `dissensus votes`, with underscores.

use dissensus::votes::ReadOptions;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};
use serde_json::{Map, Value, json};

use crate::errors::value_error;
use crate::numbers::names;

/// Options that take several values; one value alone is a list of one.
const LISTS: &[&str] = &["annotators", "counts", "one_hot", "ignore", "rows", "classes", "missing"];

/// The options that are given. `None` is as good as not given.
pub(crate) fn read_options(given: Option<&Bound<'_, PyDict>>) -> PyResult<ReadOptions> {
    let known = serde_json::to_value(ReadOptions::default()).map_err(wrong)?;
    let known: Vec<&String> = known.as_object().into_iter().flat_map(Map::keys).collect();
    let mut options = Map::new();
    for (key, value) in given.into_iter().flatten() {
        let key: String = key.extract()?;
        if !known.contains(&&key) {
            let known: Vec<&str> = known.iter().map(|name| name.as_str()).collect();
            let known = known.join(", ");
            return Err(PyTypeError::new_err(format!(
                "there is no option {key:?}; there are {known}"
            )));
        }
        if value.is_none() {
            continue;
        }
        let value = json_value(&key, &value)?;
        let alone: Map<String, Value> = [(key.clone(), value.clone())].into_iter().collect();
        serde_json::from_value::<ReadOptions>(alone.into())
            .map_err(|error| value_error(format!("{key} is {value}: {error}")))?;
        options.insert(key, value);
    }
    let options: ReadOptions = serde_json::from_value(options.into()).map_err(wrong)?;
    Ok(ReadOptions { texts: options.text.is_some(), ..options })
}

fn wrong(error: serde_json::Error) -> PyErr {
    value_error(error.to_string())
}

fn json_value(key: &str, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let list = LISTS.contains(&key);
    // An item may be made of several columns.
    if key == "item" && !value.is_instance_of::<PyString>() {
        return Ok(json!(names(key, value)?.join(",")));
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(flag.is_true().into());
    }
    if let Ok(text) = value.cast::<PyString>() {
        let text: String = text.extract()?;
        return Ok(if list { json!([text]) } else { json!(text) });
    }
    if list {
        return Ok(names(key, value)?.into());
    }
    let kind = value.get_type().name()?;
    Err(PyTypeError::new_err(format!("{key} is a value of type {kind}; expected a text")))
}
