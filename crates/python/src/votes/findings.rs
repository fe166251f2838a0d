//! What may be wrong with votes, as tables.

use std::path::PathBuf;

use dissensus::votes::Finding;
use dissensus::votes::lint::lint;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::options::read_options;
use crate::arrow::{Column, Table};
use crate::errors::raise;
use crate::work::detached;

/// A row for each finding, the worst first.
pub(super) fn findings_table(mut findings: Vec<Finding>) -> PyResult<Table> {
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let text = |of: fn(&Finding) -> Option<String>| Column::Text(findings.iter().map(of).collect());
    let whole = |of: fn(&Finding) -> Option<u64>| {
        Column::Whole(
            findings.iter().map(|finding| of(finding).and_then(|n| n.try_into().ok())).collect(),
        )
    };
    Table::new(vec![
        ("severity", text(|f| Some(format!("{:?}", f.severity).to_lowercase()))),
        ("code", text(|f| Some(f.code.clone()))),
        ("message", text(|f| Some(f.message.clone()))),
        ("count", whole(|f| Some(f.count))),
        ("item", text(|f| f.item.clone())),
        ("row", whole(|f| f.row)),
        ("column", text(|f| f.column.clone())),
        ("remedy", text(|f| f.remedy.clone())),
    ])
}

/// What may be wrong with a vote file, as a table; bad rows do not stop the reading.
///
/// Parameters
/// ----------
/// path : str or path
/// **options
///     As in ``Votes.read``.
#[pyfunction(name = "lint")]
#[pyo3(signature = (path, **options))]
pub(crate) fn lint_file(
    py: Python<'_>,
    path: PathBuf,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Table> {
    let options = read_options(options)?;
    std::fs::metadata(&path).map_err(|error| raise(dissensus::io::FileError::new(&path, error)))?;
    let report = detached(py, || Ok::<_, dissensus::Error>(lint(&path, &options)))?;
    findings_table(report.findings)
}
