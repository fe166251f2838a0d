//! Tables to and from anything that speaks Arrow's stream protocol: pandas, polars, pyarrow, duckdb.
#![allow(unsafe_code)]

use std::sync::Arc;

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator,
    StringArray,
};
use arrow_schema::ArrowError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};

use crate::errors::value_error;

const STREAM: &std::ffi::CStr = c"arrow_array_stream";

/// A small table of results, for any library that reads Arrow.
///
/// ``polars.DataFrame(table)``, ``pyarrow.table(table)`` and ``duckdb`` take it as it is; ``to_pandas()`` makes a
/// pandas data frame, ``to_dict()`` lists by column.
#[pyclass(frozen, module = "dissensus")]
pub(crate) struct Table(RecordBatch);

/// One column of a table.
pub(crate) enum Column {
    /// Texts; `None` where there is none.
    Text(Vec<Option<String>>),
    /// Numbers; `None` where there is none.
    Number(Vec<Option<f64>>),
    /// Whole numbers; `None` where there is none.
    Whole(Vec<Option<i64>>),
    /// Yes or no; `None` where nobody knows.
    Flag(Vec<Option<bool>>),
}

impl Table {
    /// A table of named columns of one length.
    pub(crate) fn new(columns: Vec<(&str, Column)>) -> PyResult<Self> {
        let columns = columns.into_iter().map(|(name, column)| {
            let array: ArrayRef = match column {
                Column::Text(values) => Arc::new(StringArray::from(values)),
                Column::Number(values) => Arc::new(Float64Array::from(values)),
                Column::Whole(values) => Arc::new(Int64Array::from(values)),
                Column::Flag(values) => Arc::new(BooleanArray::from(values)),
            };
            (name, array, true)
        });
        RecordBatch::try_from_iter_with_nullable(columns).map(Self).map_err(arrow_error)
    }
}

#[pymethods]
impl Table {
    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.0.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// The Arrow stream of this table, for libraries that read one.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A schema that was asked for need not be given.
        let _ = requested_schema;
        stream(py, self.0.clone())
    }

    /// Lists of values by column; ``None`` where there is no value.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let lists = PyDict::new(py);
        for (field, column) in self.0.schema().fields().iter().zip(self.0.columns()) {
            lists.set_item(field.name(), list(py, column)?)?;
        }
        Ok(lists)
    }

    /// A pandas data frame.
    fn to_pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("pandas")?.call_method1("DataFrame", (self.to_dict(py)?,))
    }

    /// A polars data frame.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.call_method1("DataFrame", (slf,))
    }

    /// A pyarrow table.
    fn to_pyarrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pyarrow")?.call_method1("table", (slf,))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        slf.py().import("dissensus._show")?.call_method1("text", (slf,))?.extract()
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        slf.py().import("dissensus._show")?.call_method1("html", (slf,))?.extract()
    }
}

/// The stream of a batch, as a capsule that the consumer empties.
pub(crate) fn stream(py: Python<'_>, batch: RecordBatch) -> PyResult<Bound<'_, PyCapsule>> {
    let schema = batch.schema();
    let batches = RecordBatchIterator::new([Ok(batch)], schema);
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), STREAM)
}

/// The batches of anything with `__arrow_c_stream__`.
pub(crate) fn read_stream(frame: &Bound<'_, PyAny>) -> PyResult<RecordBatchStreamReader> {
    let capsule = frame.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(STREAM))?;
    // SAFETY: a capsule of this name holds a stream by the protocol. `from_raw` moves it out and leaves
    // an empty one for the capsule to release.
    let reader = unsafe { RecordBatchStreamReader::from_raw(pointer.as_ptr().cast()) };
    reader.map_err(arrow_error)
}

fn list<'py>(py: Python<'py>, column: &ArrayRef) -> PyResult<Bound<'py, PyList>> {
    let any = column.as_any();
    if let Some(values) = any.downcast_ref::<StringArray>() {
        return PyList::new(py, values.iter());
    }
    if let Some(values) = any.downcast_ref::<Float64Array>() {
        return PyList::new(py, values.iter());
    }
    if let Some(values) = any.downcast_ref::<Int64Array>() {
        return PyList::new(py, values.iter());
    }
    if let Some(values) = any.downcast_ref::<BooleanArray>() {
        return PyList::new(py, values.iter());
    }
    Err(value_error(format!("a column of {} has no list", column.data_type())))
}

fn arrow_error(error: ArrowError) -> PyErr {
    value_error(error.to_string())
}
