//! Models against each other on the same items; methods against each other over paired seeds.

use dissensus::core::thousands;
use dissensus::stats::Alternative;
use dissensus::{
    Difference, Evaluated, ItemComparison, ScoreError, SeedComparison as OverSeeds, SeedTest,
    check_pair, compare_items, compare_seeds, evaluate, evaluate_common,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::models::Judging;
use crate::arrow::{Column, Table};
use crate::errors::raise;
use crate::numbers::choice;
use crate::work::{detached, left_alone, shown};

/// Models compared with the first of them, item by item. Made by :func:`dissensus.compare`.
///
/// The intervals are over items: they say how certain a difference is for these trained models, not
/// whether the method would win again with other seeds.
#[pyclass(frozen, module = "dissensus")]
pub(crate) struct Comparison {
    found: ItemComparison,
    notes: Vec<String>,
}

/// Compares models over items; see `package/dissensus/_judging.py`.
#[pyfunction]
pub(crate) fn judge_compare(
    votes: &Bound<'_, PyAny>,
    models: Vec<(String, Bound<'_, PyAny>)>,
    options: &Bound<'_, PyDict>,
) -> PyResult<Comparison> {
    let judging = Judging::read(votes, options)?;
    let models: Vec<_> =
        models.iter().map(|(name, given)| judging.model(name, given)).collect::<PyResult<_>>()?;
    let show = shown(options)?;
    let items = judging.votes.len();
    let (found, models) = left_alone(votes.py(), Some(&show), move |progress| {
        let models = evaluate_common(&judging.votes, &models, &judging.options)?;
        Ok::<_, ScoreError>((compare_items(&models, &judging.options, progress)?, models))
    })?;
    let mut notes = notes(&models, items);
    notes.extend(found.models.iter().filter(|model| model.left_out > 0).map(|model| {
        let (out, of) = (thousands(model.left_out), thousands(model.items));
        format!(
            "{}: {out} of its {of} items are left out, because not all models predict them",
            model.model
        )
    }));
    Ok(Comparison { found, notes })
}

fn notes(models: &[Evaluated], items: usize) -> Vec<String> {
    let mut notes = Vec::new();
    for model in models {
        notes.push(model.note(items));
        notes.extend(model.notes.iter().map(|note| format!("{}: {note}", model.name)));
    }
    notes
}

#[pymethods]
impl Comparison {
    /// One row for each other model and metric: both values, the difference with its 95 % interval over
    /// the items, and Cohen's d_z.
    fn to_frame(&self) -> PyResult<Table> {
        let rows = &self.found.differences;
        let number =
            |of: fn(&Difference) -> Option<f64>| Column::Number(rows.iter().map(of).collect());
        Table::new(vec![
            ("model", Column::Text(rows.iter().map(|d| Some(d.model.clone())).collect())),
            ("metric", Column::Text(rows.iter().map(|d| Some(d.metric.to_owned())).collect())),
            ("baseline_value", number(|d| d.baseline_value)),
            ("value", number(|d| d.value)),
            ("difference", number(|d| d.difference)),
            ("low", number(|d| d.low)),
            ("high", number(|d| d.high)),
            ("d_z", number(|d| d.d_z)),
        ])
    }

    /// The model that the others are compared with.
    #[getter]
    fn baseline(&self) -> &str {
        &self.found.baseline
    }

    /// How many items all models predict.
    #[getter]
    fn items(&self) -> usize {
        self.found.items
    }

    /// How predictions were read and matched, line by line.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// The metrics whose interval excludes 0, with the model.
    fn different(&self) -> Vec<(String, &'static str)> {
        let all = self.found.differences.iter().filter(|one| one.excludes_zero());
        all.map(|one| (one.model.clone(), one.metric)).collect()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        show(py, "compared_text", self.to_frame()?, &self.words())
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        show(py, "compared_html", self.to_frame()?, &self.words())
    }
}

impl Comparison {
    fn words(&self) -> String {
        format!(
            "differences from {}, over {} common items. The intervals hold for these trained models; for \
             methods, compare paired seeds with compare_seeds.",
            self.found.baseline,
            thousands(self.found.items)
        )
    }
}

fn show(py: Python<'_>, how: &str, table: Table, words: &str) -> PyResult<String> {
    let table = Bound::new(py, table)?;
    py.import("dissensus._show")?.call_method1(how, (table, words))?.extract()
}

/// Two methods compared over paired seeds. Made by :func:`dissensus.compare_seeds`.
#[pyclass(frozen, module = "dissensus")]
pub(crate) struct SeedComparison(OverSeeds);

/// Compares methods over seeds; see `package/dissensus/_judging.py`.
#[pyfunction]
pub(crate) fn judge_compare_seeds(
    votes: &Bound<'_, PyAny>,
    a: Vec<Bound<'_, PyAny>>,
    b: Vec<Bound<'_, PyAny>>,
    alternative: &str,
    options: &Bound<'_, PyDict>,
) -> PyResult<SeedComparison> {
    let side = choice("alternative", alternative, &Alternative::ALL.map(|one| (one.name(), one)))?;
    if a.len() != b.len() {
        return Err(raise(ScoreError::NotPaired { a: a.len(), b: b.len() }));
    }
    let judging = Judging::read(votes, options)?;
    let (mut first, mut second) = (Vec::new(), Vec::new());
    // One pair after the other: only metrics are kept.
    for (seed, pair) in a.iter().zip(&b).enumerate() {
        let x = judging.model(&format!("a[{seed}]"), pair.0)?;
        let y = judging.model(&format!("b[{seed}]"), pair.1)?;
        let (table, options) = (&judging.votes, &judging.options);
        let (x, y) = detached(votes.py(), || {
            let (x, y) = (evaluate(table, &x, options)?, evaluate(table, &y, options)?);
            check_pair((&x.name, &x.items), (&y.name, &y.items))?;
            Ok::<_, ScoreError>((x.values(options)?, y.values(options)?))
        })?;
        first.push(x);
        second.push(y);
    }
    compare_seeds(&first, &second, side).map(SeedComparison).map_err(raise)
}

#[pymethods]
impl SeedComparison {
    /// One row per metric: means and standard deviations of both methods, p values, effect sizes.
    /// Differences are ``b − a``.
    fn to_frame(&self) -> PyResult<Table> {
        let rows = &self.0.tests;
        let number =
            |of: fn(&SeedTest) -> Option<f64>| Column::Number(rows.iter().map(of).collect());
        Table::new(vec![
            ("metric", Column::Text(rows.iter().map(|t| Some(t.metric.to_owned())).collect())),
            ("mean_a", number(|t| Some(t.mean_a))),
            ("sd_a", number(|t| t.sd_a)),
            ("mean_b", number(|t| Some(t.mean_b))),
            ("sd_b", number(|t| t.sd_b)),
            ("mean_difference", number(|t| Some(t.mean_difference))),
            ("wilcoxon_p", number(|t| t.wilcoxon_p)),
            ("wilcoxon_p_holm", number(|t| t.wilcoxon_p_holm)),
            ("t_p", number(|t| t.t_p)),
            ("sign_p", number(|t| t.sign_p)),
            ("d_z", number(|t| t.d_z)),
            ("rank_biserial", number(|t| t.rank_biserial)),
        ])
    }

    /// The values of a metric by seed, of both methods.
    fn values(&self, metric: &str) -> Option<(Vec<f64>, Vec<f64>)> {
        let found = self.0.tests.iter().find(|test| test.metric == metric);
        found.map(|test| (test.a.clone(), test.b.clone()))
    }

    /// How many pairs of seeds.
    #[getter]
    fn pairs(&self) -> usize {
        self.0.pairs
    }

    /// The smallest p that so many pairs can give.
    #[getter]
    fn smallest_p(&self) -> Option<f64> {
        self.0.smallest_p
    }

    /// What that means, in a sentence.
    #[getter]
    fn note(&self) -> &str {
        &self.0.note
    }

    /// Metrics that are undefined or infinite for a seed, and therefore not tested.
    #[getter]
    fn untested(&self) -> Vec<&'static str> {
        self.0.untested.clone()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        show(py, "compared_text", self.to_frame()?, &self.0.note)
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        show(py, "compared_html", self.to_frame()?, &self.0.note)
    }
}
