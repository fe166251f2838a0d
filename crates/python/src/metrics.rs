//! Metrics of plain arrays by name. The functions that people call are made from the library's list, in
//! `package/dissensus/metrics.py`.

use std::sync::Arc;

use dissensus::VoteTable;
use dissensus::core::{TieRule, UnknownTieRule};
use dissensus::labels::example_key;
use dissensus::measure::{
    Judged, METRICS, Matrix, MeasureError, Metric, ModelOutput, Numbers, Scorer, Settings, Targets,
    Truth,
};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{raise, value_error};
use crate::numbers::{Rows, array, contiguous, dimensions};
use crate::votes::Votes;
use crate::work::detached;

/// The names of all metrics, in the order of the tables.
#[pyfunction]
pub(crate) fn metric_names() -> Vec<&'static str> {
    METRICS.iter().map(|metric| metric.about.name).collect()
}

/// What a metric says about itself: formula, unit, direction, settings, reference.
#[pyfunction]
pub(crate) fn metric_explain(name: &str) -> PyResult<String> {
    Ok(find(name)?.explain())
}

/// The title of a metric, and whether it has a value for each item.
#[pyfunction]
pub(crate) fn metric_title(name: &str) -> PyResult<(&'static str, bool)> {
    find(name).map(|metric| (metric.about.title, metric.per_item.is_some()))
}

/// The value of a metric, and what must be said beside it or instead of it.
#[pyfunction]
pub(crate) fn metric_value(
    name: &str,
    targets: &Bound<'_, PyAny>,
    probs: &Bound<'_, PyAny>,
    options: &Bound<'_, PyDict>,
) -> PyResult<(Option<f64>, Option<String>)> {
    let (metric, settings) = (find(name)?, settings(options)?);
    with_judged(targets, probs, options, move |judged| {
        let value = (metric.compute)(&Scorer::new(judged, settings)?);
        Ok((value.value, value.note.map(|note| note.to_string())))
    })
}

/// The values of a metric on single items.
#[pyfunction]
pub(crate) fn metric_items<'py>(
    name: &str,
    targets: &Bound<'py, PyAny>,
    probs: &Bound<'py, PyAny>,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (metric, settings) = (find(name)?, settings(options)?);
    let Some(per_item) = metric.per_item else {
        return Err(value_error(format!(
            "{name} has no values of single items: it is defined for a set of items"
        )));
    };
    let values = with_judged(targets, probs, options, move |judged| {
        let scorer = Scorer::new(judged, settings)?;
        Ok(per_item(&scorer).map(|values| values.into_owned()))
    })?;
    match values {
        Some(values) => Ok(PyArray1::from_vec(targets.py(), values)),
        None => Err(value_error(format!("{name} needs labels"))),
    }
}

fn find(name: &str) -> PyResult<&'static Metric> {
    let names = [name.to_owned()];
    let found = dissensus::metrics(&names).map_err(raise)?;
    found
        .first()
        .copied()
        .filter(|metric| metric.about.name == name)
        .ok_or_else(|| value_error(format!("there is no metric {name:?}")))
}

/// Bins and clip.
pub(crate) fn settings(options: &Bound<'_, PyDict>) -> PyResult<Settings> {
    let default = Settings::default();
    Ok(Settings {
        bins: option(options, "bins")?.unwrap_or(default.bins),
        clip: option(options, "clip")?,
    })
}

/// An option, where it is given and not `None`.
pub(crate) fn option<'py, T: FromPyObjectOwned<'py>>(
    options: &Bound<'py, PyDict>,
    name: &str,
) -> PyResult<Option<T>> {
    let Some(value) = options.get_item(name)?.filter(|value| !value.is_none()) else {
        return Ok(None);
    };
    value.extract::<T>().map(Some).map_err(|error| {
        let error: PyErr = error.into();
        let words = format!("{name}: {}", error.value(options.py()));
        match error.is_instance_of::<PyOverflowError>(options.py()) {
            true => value_error(words),
            false => PyTypeError::new_err(words),
        }
    })
}

/// The rule for ties.
pub(crate) fn ties(options: &Bound<'_, PyDict>) -> PyResult<TieRule> {
    let given: Option<String> = option(options, "ties")?;
    given.map_or(Ok(TieRule::default()), |given| {
        given.parse().map_err(|error: UnknownTieRule| value_error(error.to_string()))
    })
}

/// What people said, as it came: votes, numbers, or one class per item.
enum Said<'py> {
    Votes(Arc<VoteTable>),
    /// Whole numbers are counts, others are shares.
    Rows {
        rows: Rows<'py>,
        whole: bool,
    },
    Classes(Vec<u32>),
}

/// The same without Python.
enum Targeted<'a> {
    Votes(&'a VoteTable),
    Rows { numbers: Numbers<'a>, width: usize, whole: bool },
    Classes(&'a [u32]),
}

impl<'py> Said<'py> {
    fn read(targets: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(votes) = targets.cast::<Votes>() {
            return Ok(Self::Votes(Arc::clone(votes.get().table())));
        }
        let (array, kind) = array("targets", targets)?;
        let whole = matches!(kind, 'i' | 'u');
        if whole && dimensions(&array)? == 1 {
            return Ok(Self::Classes(class_numbers("targets", &array)?));
        }
        let rows = Rows::of("targets", &array, "items × classes, or one class per item")?;
        Ok(Self::Rows { rows, whole })
    }

    fn targeted(&self) -> PyResult<Targeted<'_>> {
        Ok(match self {
            Self::Votes(table) => Targeted::Votes(table),
            Self::Rows { rows, whole } => {
                Targeted::Rows { numbers: rows.numbers()?, width: rows.width(), whole: *whole }
            }
            Self::Classes(labels) => Targeted::Classes(labels),
        })
    }
}

impl Targeted<'_> {
    fn truth(&self, classes: usize, ties: TieRule, seed: u64) -> Result<Truth, MeasureError> {
        let truth = match *self {
            Self::Votes(table) => Truth::from_table(table, &(0..table.len()).collect::<Vec<_>>())?,
            Self::Rows { numbers, width, whole } => {
                let matrix = Matrix::new(numbers, width)?;
                let targets = if whole { Targets::Counts } else { Targets::Probabilities };
                Truth::new(targets(matrix))?
            }
            Self::Classes(labels) => {
                let mut counts = vec![0.0; labels.len() * classes];
                let rows = counts.chunks_exact_mut(classes.max(1)).zip(labels).enumerate();
                for (row, (counts, &label)) in rows {
                    match counts.get_mut(label as usize) {
                        Some(count) => *count = 1.0,
                        None => return Err(MeasureError::Label { row, label, classes }),
                    }
                }
                Truth::new(Targets::Counts(Matrix::new(&counts, classes)?))?
            }
        };
        truth.with_ties(ties, seed, |row| match self {
            Self::Votes(table) => example_key(table.items().name(row)),
            Self::Rows { .. } | Self::Classes(_) => row as u64,
        })
    }
}

/// Judges predictions in the order of the targets and works on them, without the interpreter's lock.
pub(crate) fn with_judged<T: Send>(
    targets: &Bound<'_, PyAny>,
    probs: &Bound<'_, PyAny>,
    options: &Bound<'_, PyDict>,
    work: impl FnOnce(&Judged) -> Result<T, MeasureError> + Send,
) -> PyResult<T> {
    let (said, rows) = (Said::read(targets)?, Rows::read("probs", probs, "items × classes")?);
    let (targeted, numbers, width) = (said.targeted()?, rows.numbers()?, rows.width());
    let (ties, seed) = (ties(options)?, option(options, "seed")?.unwrap_or(0));
    let logits = option(options, "logits")?.unwrap_or(false);
    let labels = match options.get_item("labels")?.filter(|labels| !labels.is_none()) {
        Some(labels) => {
            let (array, kind) = array("labels", &labels)?;
            if !matches!(kind, 'i' | 'u') || dimensions(&array)? != 1 {
                return Err(value_error("labels: expected one class per item, as whole numbers"));
            }
            Some(class_numbers("labels", &array)?)
        }
        None => None,
    };
    detached(targets.py(), move || {
        let mut truth = targeted.truth(width, ties, seed)?;
        if let Some(labels) = labels {
            truth = truth.with_given(&labels)?;
        }
        let matrix = Matrix::new(numbers, width)?;
        let output = if logits { ModelOutput::Logits } else { ModelOutput::Probabilities };
        work(&Judged::new(Arc::new(truth), output(matrix))?)
    })
}

/// Classes by number, from 0.
pub(crate) fn class_numbers(argument: &str, array: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    let array: PyReadonlyArray1<'_, i64> = contiguous(array, "int64")?.extract()?;
    let number = |(row, &class): (usize, &i64)| {
        u32::try_from(class).map_err(|_| {
            value_error(format!("{argument}[{row}] is {class}; expected a class, counted from 0"))
        })
    };
    array.as_slice()?.iter().enumerate().map(number).collect()
}
