//! Numbers from Python: numpy arrays, tensors and lists as rows of f32 or f64.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

use crate::errors::value_error;

/// An array-like as a numpy array of numbers, and the letter of its kind of numbers: `f`, `i`, `u`, `b`.
pub(crate) fn array<'py>(
    argument: &str,
    given: &Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyAny>, char)> {
    let array = given.py().import("numpy")?.call_method1("asarray", (given,))?;
    let kind: char = array.getattr("dtype")?.getattr("kind")?.extract()?;
    match kind {
        'f' | 'i' | 'u' | 'b' => Ok((array, kind)),
        _ => Err(PyTypeError::new_err(format!(
            "{argument} has the dtype {}; expected numbers",
            array.getattr("dtype")?
        ))),
    }
}

/// The same numbers as a C-contiguous array of this type.
pub(crate) fn contiguous<'py>(
    array: &Bound<'py, PyAny>,
    dtype: &str,
) -> PyResult<Bound<'py, PyAny>> {
    array.py().import("numpy")?.call_method1("ascontiguousarray", (array, dtype))
}

/// How many dimensions an array has.
pub(crate) fn dimensions(array: &Bound<'_, PyAny>) -> PyResult<usize> {
    array.getattr("ndim")?.extract()
}

/// Ids or names: texts, or whole numbers, which become texts.
pub(crate) fn names(argument: &str, given: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if given.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err(format!(
            "{argument} is one text; expected a list of them"
        )));
    }
    let list = match given.hasattr("tolist")? {
        true => given.call_method0("tolist")?,
        false => given.clone(),
    };
    let name = |name: Bound<'_, PyAny>| {
        if let Ok(text) = name.cast::<PyString>() {
            return text.extract();
        }
        if let Ok(flag) = name.cast::<PyBool>() {
            return Ok(flag.is_true().to_string());
        }
        if name.hasattr("__index__")? {
            return Ok(name.call_method0("__index__")?.str()?.to_string());
        }
        let kind = name.get_type().name()?;
        Err(PyTypeError::new_err(format!(
            "{argument} holds a value of type {kind}; expected texts or whole numbers"
        )))
    };
    list.try_iter()?.map(|one| name(one?)).collect()
}

/// A whole number from 0.
pub(crate) fn whole(argument: &str, given: &Bound<'_, PyAny>) -> PyResult<u64> {
    if let Ok(number) = given.extract::<u64>() {
        return Ok(number);
    }
    let is_number = given.hasattr("__index__")? || given.hasattr("__float__")?;
    let words = format!("{argument} is {}; expected a whole number from 0", given.repr()?);
    Err(if is_number { value_error(words) } else { PyTypeError::new_err(words) })
}
