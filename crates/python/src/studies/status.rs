//! How far a study is.

use dissensus::cluster::ClusterStatus;
use dissensus::studies::StatusReport;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrow::{Column, Table};
use crate::errors::value_error;
use crate::json;

/// How far a study is in a store.
#[pyclass(frozen, module = "dissensus")]
pub(crate) struct StudyStatus(pub(super) StatusReport, pub(super) Option<ClusterStatus>);

#[pymethods]
impl StudyStatus {
    /// Numbers of runs: ``done``, ``running``, ``interrupted``, ``failed`` and ``missing``.
    #[getter]
    fn runs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (runs, counts) = (&self.0.runs, PyDict::new(py));
        counts.set_item("done", runs.done)?;
        counts.set_item("running", runs.running)?;
        counts.set_item("interrupted", runs.interrupted)?;
        counts.set_item("failed", runs.failed)?;
        counts.set_item("missing", runs.missing)?;
        Ok(counts)
    }

    /// Whether every run is done.
    #[getter]
    fn is_done(&self) -> bool {
        self.0.runs.left() == 0
    }

    /// The runs that failed, by id, with the reason.
    #[getter]
    fn failed(&self) -> Vec<(String, String)> {
        let failure = |run: &dissensus::studies::Failure| (run.id.to_string(), run.reason.clone());
        self.0.failed.iter().map(failure).collect()
    }

    /// The seconds that are left, as fast as runs were before; ``None`` where no run is done yet.
    #[getter]
    fn eta_seconds(&self) -> Option<f64> {
        self.0.eta_seconds
    }

    /// Of a study that was submitted to a cluster from this store: its jobs, and every shard in the queue and in the
    /// store, as ``dissensus study status --json`` prints them; otherwise ``None``. A queue that cannot be asked is a
    /// warning.
    #[getter]
    fn cluster<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(cluster) = &self.1 else { return Ok(None) };
        let cluster =
            serde_json::to_value(cluster).map_err(|error| value_error(error.to_string()))?;
        json::to_python(py, &cluster).map(Some)
    }

    /// Numbers of runs by dataset and arm.
    fn to_frame(&self) -> PyResult<Table> {
        let arms = &self.0.arms;
        let text = |text: fn(&dissensus::studies::ArmStatus) -> &String| {
            Column::Text(arms.iter().map(|arm| Some(text(arm).clone())).collect())
        };
        let count = |count: fn(&dissensus::studies::Tally) -> usize| {
            Column::Whole(arms.iter().map(|arm| i64::try_from(count(&arm.runs)).ok()).collect())
        };
        Table::new(vec![
            ("dataset", text(|arm| &arm.dataset)),
            ("arm", text(|arm| &arm.arm)),
            ("done", count(|runs| runs.done)),
            ("running", count(|runs| runs.running)),
            ("interrupted", count(|runs| runs.interrupted)),
            ("failed", count(|runs| runs.failed)),
            ("missing", count(|runs| runs.missing)),
        ])
    }

    fn __repr__(&self) -> String {
        let runs = &self.0.runs;
        let left = [
            (runs.running, "running"),
            (runs.interrupted, "interrupted"),
            (runs.failed, "failed"),
            (runs.missing, "missing"),
        ];
        let left = left.into_iter().filter(|(count, _)| *count > 0);
        let left: String = left.map(|(count, state)| format!(", {count} {state}")).collect();
        format!("<StudyStatus: {} of {} runs done{left}>", runs.done, runs.total())
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        slf.call_method0("to_frame")?.call_method0("_repr_html_")?.extract()
    }
}
