//! Models scored against votes, and what the votes allow.

use dissensus::measure::Settings;
use dissensus::measure::ceiling::Ceiling as Allowed;
use dissensus::{Evaluated, MetricScore, Scores as Scored, ceiling, evaluate, pages, score_models};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::models::Judging;
use crate::arrow::{Column, Table};
use crate::errors::{raise, value_error};
use crate::figure::Figure;
use crate::metrics::option;
use crate::numbers::choice;
use crate::work::{left_alone, shown};

/// The scores of one or more models. Made by :func:`dissensus.score`.
#[pyclass(frozen, module = "dissensus")]
pub(crate) struct Scores {
    models: Vec<Evaluated>,
    scores: Vec<Scored>,
    ceiling: Option<Allowed>,
    settings: Settings,
    notes: Vec<String>,
}

/// Scores the models of `probs`; see `package/dissensus/_judging.py`.
#[pyfunction]
pub(crate) fn judge_score(
    votes: &Bound<'_, PyAny>,
    probs: &Bound<'_, PyAny>,
    options: &Bound<'_, PyDict>,
) -> PyResult<Scores> {
    let py = votes.py();
    let judging = Judging::read(votes, options)?;
    let by: Option<String> = option(options, "by")?;
    let by = by.map(|by| choice("by", &by, &[("entropy", ())])).transpose()?;
    let slices = option(options, "slices")?.unwrap_or(4);
    within("slices", slices, 1000)?;
    let repeats = option(options, "ceiling")?;
    within("ceiling", repeats.unwrap_or(1), 10_000)?;
    let mut models = judging.models("probs", probs)?;
    if let (Some(name), [model]) = (option::<String>(options, "name")?, &mut models[..]) {
        model.name = name;
    }
    let show = shown(options)?;
    let Judging { votes: table, options, .. } = judging;
    let (items, settings) = (table.len(), options.settings);
    let (models, scores, ceiling) = left_alone(py, Some(&show), move |progress| {
        let (table, options) = (&table, &options);
        let models = models.iter().map(|one| evaluate(table, one, options));
        let models = models.collect::<Result<Vec<_>, _>>()?;
        let slices = by.map(|()| slices);
        let (scores, allowed) = score_models(table, &models, slices, repeats, options, progress)?;
        Ok::<_, dissensus::Error>((models, scores, allowed))
    })?;
    let mut notes = Vec::new();
    for model in &models {
        notes.push(model.note(items));
        notes.extend(model.notes.iter().map(|note| format!("{}: {note}", model.name)));
    }
    Ok(Scores { models, scores, ceiling, settings, notes })
}

/// Refuses a number that is not from 1 to `most`, as the command line does.
fn within(argument: &str, value: usize, most: usize) -> PyResult<()> {
    match (1..=most).contains(&value) {
        true => Ok(()),
        false => {
            Err(value_error(format!("{argument} is {value}; expected a number from 1 to {most}")))
        }
    }
}

impl Scores {
    fn metric(&self, name: &str) -> PyResult<&MetricScore> {
        let found = self.scores.first().and_then(|scores| scores.metric(name));
        found.ok_or_else(|| {
            let known = self.scores.iter().take(1).flat_map(|scores| &scores.metrics);
            let known: Vec<&str> = known.map(|score| score.metric).collect();
            PyKeyError::new_err(format!("there is no {name}; there are {}", known.join(", ")))
        })
    }
}

#[pymethods]
impl Scores {
    /// One row for each model, slice and metric, with a 95 % interval over the items.
    fn to_frame(&self) -> PyResult<Table> {
        let rows: Vec<(&Scored, &MetricScore)> =
            self.scores.iter().flat_map(|s| s.metrics.iter().map(move |m| (s, m))).collect();
        let text = |of: &dyn Fn(&Scored, &MetricScore) -> Option<String>| {
            Column::Text(rows.iter().map(|(s, m)| of(s, m)).collect())
        };
        let number = |of: &dyn Fn(&MetricScore) -> Option<f64>| {
            Column::Number(rows.iter().map(|(_, m)| of(m)).collect())
        };
        let items = rows.iter().map(|(s, _)| i64::try_from(s.items).ok()).collect();
        Table::new(vec![
            ("model", text(&|s, _| Some(s.model.clone()))),
            ("slice", text(&|s, _| Some(s.slice.to_string()))),
            ("items", Column::Whole(items)),
            ("metric", text(&|_, m| Some(m.metric.to_owned()))),
            ("value", number(&|m| m.value)),
            ("low", number(&|m| m.low)),
            ("high", number(&|m| m.high)),
            ("method", text(&|_, m| m.method.map(str::to_owned))),
            (
                "note",
                text(&|_, m| match m.note {
                    Some(note) => Some(note.to_string()),
                    None => m.no_interval.map(|why| format!("no interval: {why}")),
                }),
            ),
        ])
    }

    /// The names of the models.
    #[getter]
    fn models(&self) -> Vec<&str> {
        self.models.iter().map(|model| model.name.as_str()).collect()
    }

    /// How predictions were read and matched, line by line.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// How well any model can score against these votes, where that was asked for.
    #[getter]
    fn ceiling(&self) -> Option<Ceiling> {
        self.ceiling.clone().map(Ceiling)
    }

    /// The value of a metric over all items, of the first model; ``None`` where it is undefined.
    fn __getitem__(&self, metric: &str) -> PyResult<Option<f64>> {
        Ok(self.metric(metric)?.value)
    }

    /// The 95 % interval of a metric over all items, of the first model.
    fn interval(&self, metric: &str) -> PyResult<(Option<f64>, Option<f64>)> {
        self.metric(metric).map(|score| (score.low, score.high))
    }

    /// Draws a reliability diagram, or the entropies of predictions against those of the votes.
    ///
    /// Parameters
    /// ----------
    /// kind : {"reliability", "entropy"}
    ///     What is drawn.
    /// model : str, optional
    ///     The model, where there are several.
    /// ax : matplotlib.axes.Axes, optional
    ///     Draw there with matplotlib, and return the axes.
    #[pyo3(signature = (kind="reliability", *, model=None, ax=None))]
    fn plot<'py>(
        &self,
        py: Python<'py>,
        kind: &str,
        model: Option<&str>,
        ax: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let at = choice("kind", kind, &[("reliability", 0), ("entropy", 1)])?;
        let named = |one: &&Evaluated| model.is_none_or(|name| one.name == name);
        let mut found = self.models.iter().filter(named);
        let (Some(model), None) = (found.next(), found.next()) else {
            let names = self.models().join(", ");
            return Err(value_error(format!("model: expected one of {names}")));
        };
        if let Some(ax) = ax {
            let data = match at {
                0 => super::reliability::of_judged(&model.judged, self.settings)?
                    .into_pyobject(py)?
                    .into_any(),
                _ => {
                    let truth = model.judged.truth().entropy().to_vec();
                    (truth, model.judged.entropy().to_vec()).into_pyobject(py)?.into_any()
                }
            };
            return py.import("dissensus._plot")?.call_method1(kind, (ax, data, &model.name));
        }
        let figures = py.detach(|| pages::model_figures(model, self.settings)).map_err(raise)?;
        let [reliability, entropy] = figures.map(Figure::from);
        let figure = if at == 0 { reliability } else { entropy };
        Ok(figure.into_pyobject(py)?.into_any())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let table = Bound::new(py, self.to_frame()?)?;
        py.import("dissensus._show")?.call_method1("scores_text", (table, self.notes()))?.extract()
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let table = Bound::new(py, self.to_frame()?)?;
        py.import("dissensus._show")?.call_method1("scores_html", (table, self.notes()))?.extract()
    }
}

/// How well any model can score against votes. Made by :func:`dissensus.ceiling`.
#[pyclass(frozen, module = "dissensus")]
#[derive(Clone)]
pub(crate) struct Ceiling(Allowed);

/// What votes allow; see `package/dissensus/_judging.py`.
#[pyfunction]
pub(crate) fn judge_ceiling(
    votes: &Bound<'_, PyAny>,
    repeats: usize,
    options: &Bound<'_, PyDict>,
) -> PyResult<Ceiling> {
    within("repeats", repeats, 10_000)?;
    let judging = Judging::read(votes, options)?;
    left_alone(votes.py(), None, move |_| {
        let all: Vec<usize> = (0..judging.votes.len()).collect();
        ceiling(&judging.votes, &all, repeats, &judging.options).map(Ceiling)
    })
}

#[pymethods]
impl Ceiling {
    /// One row per metric: one half of the votes against the other, and a perfect model against as many
    /// votes drawn anew, each with the least and the largest of the repeats.
    fn to_frame(&self) -> PyResult<Table> {
        let rows = &self.0.metrics;
        let number = |of: &dyn Fn(&dissensus::measure::ceiling::CeilingScore) -> Option<f64>| {
            Column::Number(rows.iter().map(of).collect())
        };
        Table::new(vec![
            ("metric", Column::Text(rows.iter().map(|m| Some(m.metric.to_owned())).collect())),
            ("half", number(&|m| m.half.map(|s| s.mean))),
            ("half_low", number(&|m| m.half.map(|s| s.low))),
            ("half_high", number(&|m| m.half.map(|s| s.high))),
            ("smoothed", Column::Flag(rows.iter().map(|m| Some(m.smoothed)).collect())),
            ("perfect", number(&|m| m.perfect.map(|s| s.mean))),
            ("perfect_low", number(&|m| m.perfect.map(|s| s.low))),
            ("perfect_high", number(&|m| m.perfect.map(|s| s.high))),
        ])
    }

    /// Items with at least two votes.
    #[getter]
    fn items(&self) -> usize {
        self.0.items
    }

    /// The mean entropy of the votes, in nats.
    #[getter]
    fn entropy(&self) -> f64 {
        self.0.entropy
    }

    /// By how much that is too low, and any KL too high, in nats.
    #[getter]
    fn bias(&self) -> f64 {
        self.0.bias
    }

    /// The reliability of the entropies by Spearman's correlation.
    #[getter]
    fn reliability_spearman(&self) -> Option<f64> {
        self.0.reliability_spearman
    }

    /// The same by Pearson's.
    #[getter]
    fn reliability_pearson(&self) -> Option<f64> {
        self.0.reliability_pearson
    }

    /// What a model's entropy correlation would be with endless votes; ``None`` for other metrics.
    fn disattenuated(&self, metric: &str, value: f64) -> Option<f64> {
        self.0.disattenuated(metric, value)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let table = Bound::new(py, self.to_frame()?)?;
        py.import("dissensus._show")?.call_method1("text", (table,))?.extract()
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let table = Bound::new(py, self.to_frame()?)?;
        py.import("dissensus._show")?.call_method1("html", (table,))?.extract()
    }
}
