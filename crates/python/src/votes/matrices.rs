//! Votes from and to arrays of items × classes.

use dissensus::core::limits::MAX_DENSE_CELLS;
use dissensus::core::{
    Counts, Distribution, Probabilities, VoteTable, entropy, normalized_entropy,
};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

use super::arguments::{class_set, item_ids, matrix};
use crate::errors::{raise, value_error};

type Names<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// Refuses an array of items × classes that no memory holds.
pub(crate) fn check_size(items: usize, classes: usize) -> PyResult<()> {
    match (items as u64).saturating_mul(classes as u64) <= MAX_DENSE_CELLS {
        true => Ok(()),
        false => Err(value_error(format!(
            "an array of {items} items × {classes} classes has more than {MAX_DENSE_CELLS} cells"
        ))),
    }
}

/// An array of items × classes.
pub(crate) fn rows_of(
    py: Python<'_>,
    rows: Vec<f64>,
    items: usize,
    classes: usize,
) -> PyResult<Bound<'_, PyArray2<f64>>> {
    PyArray1::from_vec(py, rows).reshape([items, classes])
}

/// The votes of a matrix of counts.
pub(super) fn counts_table(
    counts: &Bound<'_, PyAny>,
    items: Names<'_, '_>,
    classes: Names<'_, '_>,
) -> PyResult<VoteTable> {
    let rows = matrix("counts", counts)?;
    let (n, k) = (rows.as_array().nrows(), rows.as_array().ncols());
    let (items, classes) = (item_ids(items, n)?, class_set(classes, k)?);
    let mut counts = Counts::new();
    for (item, row) in rows.as_slice()?.chunks(k.max(1)).enumerate() {
        if let Some(class) =
            row.iter().position(|&c| !(c >= 0.0 && c.fract() == 0.0 && c <= f64::from(u32::MAX)))
        {
            return Err(value_error(format!(
                "counts[{item}, {class}] is {}; expected a whole number of votes from 0 to {}; \
                     Votes.from_probabilities takes shares",
                row[class],
                u32::MAX
            )));
        }
        let entries = (0u16..).zip(row).map(|(class, &votes)| (class, votes as u32));
        counts.push(entries).map_err(|error| value_error(error.to_string()))?;
    }
    VoteTable::from_counts(classes, items, counts).map_err(|error| value_error(error.to_string()))
}

/// The votes of a matrix of shares.
pub(super) fn shares_table(
    probabilities: &Bound<'_, PyAny>,
    items: Names<'_, '_>,
    classes: Names<'_, '_>,
) -> PyResult<VoteTable> {
    let rows = matrix("probabilities", probabilities)?;
    let (n, k) = (rows.as_array().nrows(), rows.as_array().ncols());
    let (items, classes) = (item_ids(items, n)?, class_set(classes, k)?);
    let mut shares = Probabilities::new(k);
    for (item, row) in rows.as_slice()?.chunks(k.max(1)).enumerate() {
        shares.push(row).map_err(|error| value_error(format!("probabilities[{item}]: {error}")))?;
    }
    VoteTable::from_probabilities(classes, items, shares)
        .map_err(|error| value_error(error.to_string()))
}

/// How many votes each class got: whole numbers, or sums of weights.
pub(super) fn counts_array<'py>(py: Python<'py>, table: &VoteTable) -> PyResult<Bound<'py, PyAny>> {
    check_size(table.len(), table.classes().len())?;
    table.require_one_label().map_err(raise)?;
    let Some(counts) = table.counts() else {
        return Err(value_error("only probabilities are known, no counts; targets() gives them"));
    };
    let (items, classes) = (table.len(), table.classes().len());
    if counts.is_weighted() {
        let rows = py.detach(|| (0..items).flat_map(|item| counts.row(item, classes)).collect());
        return Ok(rows_of(py, rows, items, classes)?.into_any());
    }
    let cells = py.detach(|| {
        let mut cells = vec![0i64; items * classes];
        for (item, row) in cells.chunks_exact_mut(classes.max(1)).enumerate() {
            counts.entries(item).for_each(|(class, votes)| row[class as usize] = votes.into());
        }
        cells
    });
    Ok(PyArray1::from_vec(py, cells).reshape([items, classes])?.into_any())
}

/// The entropy of each item's votes; NaN without votes.
pub(super) fn entropies(table: &VoteTable, normalized: bool) -> Vec<f64> {
    let classes = table.classes().len();
    let of = |shares: Option<Distribution>| {
        let nats = entropy(shares?.values());
        match normalized {
            true => normalized_entropy(nats, classes),
            false => Some(nats),
        }
    };
    table.distributions().into_iter().map(|shares| of(shares).unwrap_or(f64::NAN)).collect()
}
