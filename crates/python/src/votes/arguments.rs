//! Ids, names and matrices from Python.

use dissensus::core::{ClassOrder, ClassSet, Ids};
use numpy::PyReadonlyArray2;
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

use crate::errors::value_error;
use crate::numbers::{array, check_dimensions, contiguous, names};

/// The names of items or classes, or numbers from 0; as many as there are.
fn ids(
    argument: &str,
    given: Option<&Bound<'_, PyAny>>,
    count: usize,
) -> PyResult<Option<Vec<String>>> {
    let Some(given) = given.filter(|given| !given.is_none()) else { return Ok(None) };
    let names = names(argument, given)?;
    match names.len() == count {
        true => Ok(Some(names)),
        false => Err(value_error(format!(
            "{argument} has {} names for {count}; give each one name",
            names.len()
        ))),
    }
}

pub(super) fn item_ids(given: Option<&Bound<'_, PyAny>>, count: usize) -> PyResult<Ids> {
    let Some(names) = ids("items", given, count)? else { return Ok(Ids::positions(count)) };
    Ids::new(names).map_err(|error| twice_in_items(&error.id))
}

/// The exception for an id that is given twice.
pub(crate) fn twice_in_items(id: &str) -> PyErr {
    value_error(format!("items holds {id:?} twice; an item has one row"))
}

pub(super) fn class_set(given: Option<&Bound<'_, PyAny>>, count: usize) -> PyResult<ClassSet> {
    match ids("classes", given, count)? {
        Some(names) => ClassSet::new(names, ClassOrder::Declared),
        None => ClassSet::numbered(count),
    }
    .map_err(|error| value_error(error.to_string()))
}

/// A matrix of 64-bit floats, items × classes.
pub(super) fn matrix<'py>(
    argument: &str,
    given: &Bound<'py, PyAny>,
) -> PyResult<PyReadonlyArray2<'py, f64>> {
    let (array, _) = array(argument, given)?;
    check_dimensions(argument, &array, 2, "items × classes")?;
    contiguous(&array, "float64")?.extract()
}

/// The places of ids, or of the flags that are set.
pub(crate) fn places(ids: &Ids, items: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let names = names("items", items)?;
    let find = |id: &String| ids.position(id).ok_or_else(|| no_item(id));
    if !are_flags(items)? {
        return names.iter().map(find).collect();
    }
    if names.len() != ids.len() {
        let (flags, items) = (names.len(), ids.len());
        return Err(value_error(format!("items has {flags} flags for {items} items")));
    }
    Ok((0..names.len()).filter(|&place| names[place] == "true").collect())
}

/// Whether a list begins with a flag: arrays of another library have numbers that only look like Python's.
fn are_flags(items: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let Ok(dtype) = items.getattr("dtype") {
        return Ok(dtype.str()?.to_string_lossy().to_lowercase().contains("bool"));
    }
    Ok(items.get_item(0).is_ok_and(|first| first.is_instance_of::<PyBool>()))
}

/// An id as a text: whole numbers become texts.
pub(crate) fn id_text(item: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(text) = item.cast::<PyString>() {
        return text.extract();
    }
    match item.hasattr("__index__")? {
        true => Ok(item.call_method0("__index__")?.str()?.to_string()),
        false => {
            let kind = item.get_type().name()?;
            Err(PyTypeError::new_err(format!(
                "an id of type {kind}; expected a text or a whole number"
            )))
        }
    }
}

/// The exception for an id that is not there.
pub(crate) fn no_item(id: &str) -> PyErr {
    PyKeyError::new_err(format!("there is no item {id:?}"))
}
