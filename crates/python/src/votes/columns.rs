//! Lists and numpy arrays as columns of a frame.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, UInt64Array};
use arrow_schema::{Field, Schema};
use dissensus::io::cell_text;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyString};

use super::frame::{ArrowFrame, fraction};
use crate::arrow::read_stream;
use crate::errors::value_error;
use crate::numbers::{contiguous, dimensions, is_masked};

/// The frame of anything with an Arrow stream, or of a dict of lists.
pub(crate) fn frame_of(given: &Bound<'_, PyAny>) -> PyResult<ArrowFrame> {
    use arrow_array::RecordBatchReader;
    if let Ok(lists) = given.cast::<PyDict>() {
        let named = |(name, values): (Bound<'_, PyAny>, _)| Ok((name.str()?.to_string(), values));
        return frame(&lists.iter().map(named).collect::<PyResult<Vec<_>>>()?);
    }
    let reader = read_stream(given)?;
    let schema = reader.schema();
    let batches = reader.collect::<Result<Vec<_>, _>>();
    ArrowFrame::new(schema, batches.map_err(|error| value_error(error.to_string()))?)
}

/// The frame of named lists of one length.
pub(super) fn frame(columns: &[(String, Bound<'_, PyAny>)]) -> PyResult<ArrowFrame> {
    let arrays: Vec<ArrayRef> =
        columns.iter().map(|(name, values)| column(name, values)).collect::<PyResult<_>>()?;
    if let [first, ..] = &arrays[..]
        && let Some(other) = arrays.iter().position(|array| array.len() != first.len())
    {
        let ((a, b), (n, m)) =
            ((&columns[0].0, &columns[other].0), (first.len(), arrays[other].len()));
        return Err(value_error(format!(
            "{a} has {n} values and {b} has {m}; expected one of each per vote"
        )));
    }
    let field = |(name, array): (&(String, _), &ArrayRef)| {
        Field::new(&name.0, array.data_type().clone(), true)
    };
    let schema = Arc::new(Schema::new(columns.iter().zip(&arrays).map(field).collect::<Vec<_>>()));
    let rows = arrays.first().map_or(0, |array| array.len());
    let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(rows));
    let batch = RecordBatch::try_new_with_options(Arc::clone(&schema), arrays, &options)
        .map_err(|error| value_error(error.to_string()))?;
    ArrowFrame::new(schema, vec![batch])
}

/// A list or array as a column. `None`, NaN and what is masked are missing values.
fn column(argument: &str, given: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    if given.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err(format!(
            "{argument} is one text; expected a list of values"
        )));
    }
    let numpy = given.py().import("numpy")?;
    // A list of texts and numbers would become an array of texts alone.
    let array = match given.hasattr("__array__")? && !is_masked(given)? {
        true => numpy.call_method1("asarray", (given,))?,
        false => {
            let list = match given.hasattr("tolist")? {
                // `None` where a value is masked.
                true => given.call_method0("tolist")?,
                false => given.clone(),
            };
            numpy.call_method1("array", (list.try_iter()?.collect::<PyResult<Vec<_>>>()?, "O"))?
        }
    };
    if dimensions(&array)? != 1 {
        let shape = array.getattr("shape")?;
        return Err(value_error(format!(
            "{argument} has the shape {shape}; expected one value per vote"
        )));
    }
    let kind: char = array.getattr("dtype")?.getattr("kind")?.extract()?;
    Ok(match kind {
        'i' => {
            let values: PyReadonlyArray1<'_, i64> = contiguous(&array, "int64")?.extract()?;
            Arc::new(Int64Array::from_iter_values(values.as_slice()?.iter().copied()))
        }
        'u' => {
            let values: PyReadonlyArray1<'_, u64> = contiguous(&array, "uint64")?.extract()?;
            match values.as_slice()?.iter().all(|&value| i64::try_from(value).is_ok()) {
                true => Arc::new(Int64Array::from_iter_values(
                    values.as_slice()?.iter().map(|&v| v as i64),
                )),
                false => {
                    Arc::new(UInt64Array::from_iter_values(values.as_slice()?.iter().copied()))
                }
            }
        }
        'f' => {
            let values: PyReadonlyArray1<'_, f64> = contiguous(&array, "float64")?.extract()?;
            Arc::new(Float64Array::from_iter_values(values.as_slice()?.iter().copied()))
        }
        'b' => {
            let values: PyReadonlyArray1<'_, bool> = contiguous(&array, "bool")?.extract()?;
            Arc::new(BooleanArray::from(values.as_slice()?.to_vec()))
        }
        'O' | 'U' | 'T' => objects(argument, &array)?,
        _ => {
            let dtype = array.getattr("dtype")?;
            return Err(PyTypeError::new_err(format!(
                "{argument} has the dtype {dtype}; expected texts or numbers"
            )));
        }
    })
}

/// Python objects: whole numbers where all are, else texts.
fn objects(argument: &str, array: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let list = array.call_method0("tolist")?;
    let values: Vec<Bound<'_, PyAny>> = list.try_iter()?.collect::<PyResult<_>>()?;
    let is_number = |value: &Bound<'_, PyAny>| {
        !value.is_instance_of::<PyBool>()
            && !value.is_instance_of::<PyString>()
            && value.extract::<i64>().is_ok()
    };
    if !values.is_empty() && values.iter().all(is_number) {
        let numbers =
            values.iter().map(|value| value.extract::<i64>()).collect::<PyResult<Vec<_>>>()?;
        return Ok(Arc::new(Int64Array::from(numbers)));
    }
    let mut texts =
        arrow_array::builder::LargeStringBuilder::with_capacity(values.len(), 8 * values.len());
    for value in &values {
        if let Ok(text) = value.cast::<PyString>() {
            texts.append_value(text.to_cow()?);
        } else {
            texts.append_option(text(argument, value)?);
        }
    }
    Ok(Arc::new(texts.finish()))
}

/// The text of a value that is none; no text for a missing value.
fn text(argument: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    if value.is_none() {
        return Ok(None);
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(Some(flag.is_true().to_string()));
    }
    if !value.is_instance_of::<PyFloat>() && value.hasattr("__index__")? {
        return Ok(Some(value.call_method0("__index__")?.str()?.to_string()));
    }
    if let Ok(number) = value.extract::<f64>() {
        return Ok(cell_text(&fraction(number)));
    }
    // pandas has missing values of its own.
    let kind = value.get_type().name()?.to_string();
    match kind.as_str() {
        "NAType" | "NaTType" => Ok(None),
        _ => Err(PyTypeError::new_err(format!(
            "{argument} holds a value of type {kind}; expected texts or numbers"
        ))),
    }
}
