//! Numbers from Python: numpy arrays, tensors and lists as rows of f32 or f64.

use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

use crate::errors::value_error;

/// A matrix, row after row.
pub(crate) enum Rows<'py> {
    /// Single precision.
    F32(PyReadonlyArray2<'py, f32>),
    /// Double precision; whole numbers and half precision, too.
    F64(PyReadonlyArray2<'py, f64>),
}

/// An array-like as a numpy array of numbers, and the letter of its kind of numbers: `f`, `i`, `u`, `b`.
pub(crate) fn array<'py>(
    argument: &str,
    given: &Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyAny>, char)> {
    let array = plain(argument, given)?;
    let kind: char = array.getattr("dtype")?.getattr("kind")?.extract()?;
    match kind {
        'f' | 'i' | 'u' | 'b' => Ok((array, kind)),
        _ => Err(PyTypeError::new_err(format!(
            "{argument} has the dtype {}; expected numbers",
            array.getattr("dtype")?
        ))),
    }
}

/// An array-like as a numpy array. What numpy would read as something else is refused (sparse matrices, masked values)
/// or made readable (tensors with gradients, on a GPU, or in bfloat16).
fn plain<'py>(argument: &str, given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let numpy = given.py().import("numpy")?;
    if given.get_type().is(&numpy.getattr("ndarray")?) {
        return Ok(given.clone());
    }
    if given.hasattr("nnz")? && given.hasattr("toarray")? {
        return Err(PyTypeError::new_err(format!(
            "{argument} is a sparse matrix; expected an array, as its toarray() gives"
        )));
    }
    if is_masked(given)? {
        return Err(value_error(format!(
            "{argument} has masked values; fill them, or leave the rows out"
        )));
    }
    if given.hasattr("detach")? && given.hasattr("cpu")? {
        let mut tensor = given.call_method0("detach")?.call_method0("cpu")?;
        if tensor.getattr("dtype")?.str()?.to_string_lossy().ends_with("bfloat16") {
            tensor = tensor.call_method0("float")?;
        }
        return numpy.call_method1("asarray", (tensor,));
    }
    numpy.call_method1("asarray", (given,))
}

/// Whether this is an array of numpy with masked values.
pub(crate) fn is_masked(given: &Bound<'_, PyAny>) -> PyResult<bool> {
    if !given.hasattr("mask")? || !given.hasattr("filled")? {
        return Ok(false);
    }
    given.py().import("numpy.ma")?.call_method1("is_masked", (given,))?.extract()
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

impl<'py> Rows<'py> {
    /// Reads a matrix. `expected` says what its rows and columns are.
    pub(crate) fn read(
        argument: &str,
        given: &Bound<'py, PyAny>,
        expected: &str,
    ) -> PyResult<Self> {
        let (array, _) = array(argument, given)?;
        Self::of(argument, &array, expected)
    }

    /// A numpy array of numbers as a matrix.
    pub(crate) fn of(argument: &str, array: &Bound<'py, PyAny>, expected: &str) -> PyResult<Self> {
        check_dimensions(argument, array, 2, expected)?;
        let name: String = array.getattr("dtype")?.getattr("name")?.extract()?;
        Ok(match name.as_str() {
            "float32" => Self::F32(contiguous(array, "float32")?.extract()?),
            _ => Self::F64(contiguous(array, "float64")?.extract()?),
        })
    }

    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        match self {
            Self::F32(array) => array.as_array().nrows(),
            Self::F64(array) => array.as_array().nrows(),
        }
    }

    /// Values in a row.
    pub(crate) fn width(&self) -> usize {
        match self {
            Self::F32(array) => array.as_array().ncols(),
            Self::F64(array) => array.as_array().ncols(),
        }
    }

    /// The numbers, row after row.
    pub(crate) fn numbers(&self) -> PyResult<dissensus::measure::Numbers<'_>> {
        Ok(match self {
            Self::F32(array) => array.as_slice()?.into(),
            Self::F64(array) => array.as_slice()?.into(),
        })
    }

    /// A copy in double precision.
    pub(crate) fn widened(&self) -> PyResult<Vec<f64>> {
        Ok(match self {
            Self::F32(array) => array.as_slice()?.iter().map(|&value| value.into()).collect(),
            Self::F64(array) => array.as_slice()?.to_vec(),
        })
    }
}

/// Refuses an array of another number of dimensions.
pub(crate) fn check_dimensions(
    argument: &str,
    array: &Bound<'_, PyAny>,
    count: usize,
    expected: &str,
) -> PyResult<()> {
    if dimensions(array)? == count {
        return Ok(());
    }
    let shape = array.getattr("shape")?;
    Err(value_error(format!("{argument} has the shape {shape}; expected {expected}")))
}

/// A list of numbers.
pub(crate) fn vector<'py>(
    argument: &str,
    given: &Bound<'py, PyAny>,
) -> PyResult<PyReadonlyArray1<'py, f64>> {
    let (array, _) = array(argument, given)?;
    check_dimensions(argument, &array, 1, "one dimension")?;
    contiguous(&array, "float64")?.extract()
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

/// One of some named choices.
pub(crate) fn choice<T: Copy>(argument: &str, given: &str, choices: &[(&str, T)]) -> PyResult<T> {
    if let Some((_, found)) = choices.iter().find(|(name, _)| *name == given) {
        return Ok(*found);
    }
    let names: Vec<String> = choices.iter().map(|(name, _)| format!("{name:?}")).collect();
    let (last, others) = names.split_last().map_or(("", &[][..]), |(last, all)| (last, all));
    let or = if others.is_empty() { "" } else { " or " };
    Err(value_error(format!("{argument} is {given:?}; expected {}{or}{last}", others.join(", "))))
}
