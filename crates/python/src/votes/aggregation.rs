//! What an estimator of targets found, for Python.

use std::sync::Arc;

use dissensus::core::VoteTable;
use dissensus::labels::{Aggregation as Found, Confusions, LabelError, Source, Target};
use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods};
use pyo3::prelude::*;

use super::matrices::{check_size, rows_of};
use crate::arrow::{Column, Table};
use crate::errors::raise;

/// The targets of votes, and what was estimated of the annotators for them. Made by :meth:`Votes.aggregate`.
#[pyclass(frozen, module = "dissensus")]
pub(crate) struct Aggregation {
    votes: Arc<VoteTable>,
    target: Target,
    found: Found<'static>,
}

impl Aggregation {
    pub(super) fn new(votes: Arc<VoteTable>, target: Target) -> Result<Self, LabelError> {
        let found = target.estimate(&votes)?.into_owned();
        Ok(Self { votes, target, found })
    }

    fn confused(&self) -> Option<&Confusions> {
        self.found.annotators.as_ref()?.confusions.as_ref()
    }
}

#[pymethods]
impl Aggregation {
    /// The target with all of its settings.
    #[getter]
    fn target(&self) -> String {
        self.target.to_string()
    }

    /// The target distributions, an array of items × classes.
    #[getter]
    fn targets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (items, classes) = (self.votes.len(), self.votes.classes().len());
        check_size(items, classes)?;
        let rows = Source::new(&self.found.targets).map_err(raise)?.distributions();
        rows_of(py, rows, items, classes)
    }

    /// The annotators with the parameters of the model, such as their accuracy; ``None`` for a target that does not
    /// tell annotators apart.
    #[getter]
    fn annotators(&self) -> PyResult<Option<Table>> {
        let Some(model) = &self.found.annotators else { return Ok(None) };
        let names = self.votes.annotators().iter().map(|name| Some(name.to_owned())).collect();
        let own = model.parameters.iter().map(|p| (p.name, Column::Number(p.values.clone())));
        let columns = std::iter::once(("annotator", Column::Text(names))).chain(own);
        Table::new(columns.collect()).map(Some)
    }

    /// The confusion matrices, an array of annotators × classes × classes: the probability that an annotator votes for
    /// the class of a column on an item of the class of a row. ``None`` for a target without them.
    #[getter]
    fn confusions<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray3<f64>>>> {
        let Some(confusions) = self.confused() else { return Ok(None) };
        let (people, classes) = (confusions.annotators(), confusions.classes());
        let cells = py.detach(|| confusions.matrices()).map_err(raise)?;
        PyArray1::from_vec(py, cells).reshape([people, classes, classes]).map(Some)
    }

    /// The estimated share of the items that are of each class; ``None`` for a target without them.
    #[getter]
    fn priors<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.found.items.as_ref().map(|items| PyArray1::from_slice(py, &items.priors))
    }

    /// How many iterations the fit took; 0 for a formula.
    #[getter]
    fn iterations(&self) -> u32 {
        self.found.fit.iterations
    }

    /// Whether the fit stopped because little changed, and not because the iterations were over.
    #[getter]
    fn converged(&self) -> bool {
        self.found.fit.converged
    }

    /// The log-likelihood of the last iteration, in nats; ``None`` where no likelihood is maximized.
    #[getter]
    fn log_likelihood(&self) -> Option<f64> {
        self.found.fit.log_likelihood()
    }

    /// The log-likelihood of each iteration.
    #[getter]
    fn log_likelihoods<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.found.fit.log_likelihoods)
    }

    fn __repr__(&self) -> String {
        let fit = match self.log_likelihood() {
            None => String::new(),
            Some(value) => format!(
                ", {} after {} iterations, log-likelihood {value:.4}",
                if self.converged() { "converged" } else { "not converged" },
                self.iterations()
            ),
        };
        format!("<Aggregation: {}, {} items{fit}>", self.target(), self.votes.len())
    }
}
