//! JSON values to and from Python's own.

use pyo3::prelude::*;
use serde_json::Value;

use crate::errors::value_error;

/// Dictionaries, lists, numbers and texts of a value; numbers are the same to the bit.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (value.to_string(),))
}

/// The value of dictionaries, lists, numbers, texts and paths.
pub(crate) fn from_python(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let py = value.py();
    let options = pyo3::types::PyDict::new(py);
    options.set_item("allow_nan", false)?;
    options.set_item("default", py.import("os")?.getattr("fspath")?)?;
    let text = py.import("json")?.call_method("dumps", (value,), Some(&options))?;
    serde_json::from_str(&text.extract::<String>()?).map_err(|error| value_error(error.to_string()))
}
