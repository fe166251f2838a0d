//! How well predictions match what people said: every metric with an interval over the items.
//!
//! ```
//! use dissensus_core::Silent;
//! use dissensus_evaluate::{ScoreOptions, evaluate};
//! let votes = "item,label\na,cat\na,dog\na,dog\nb,cat\nb,cat\nc,dog\n";
//! let votes = dissensus_votes::read_bytes("votes.csv", votes.into(), &Default::default())?.table;
//! let model = "id,cat,dog\na,0.4,0.6\nb,0.9,0.1\nc,0.2,0.8\n";
//! let models = dissensus_predictions::read_bytes("model.csv", model.into(), &Default::default())?;
//! let options = ScoreOptions { metrics: vec!["accuracy".into()], ..ScoreOptions::default() };
//! let model = evaluate(&votes, &models[0], &options)?;
//! let scores = model.score(&options, &Silent)?;
//! assert_eq!((scores.items, scores.metrics[0].value), (3, Some(1.0)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;

use dissensus_core::{Event, Progress, Silent, Unit, VoteTable};
use dissensus_measure::ceiling::Ceiling;
use dissensus_measure::intervals::interval;
use dissensus_measure::slices::{self as measure, by_entropy};
use dissensus_measure::{Interval, Judged, Metric, Note, Scorer, Value};
use dissensus_predictions::Predictions;
use serde::{Serialize, Serializer};

use crate::ceiling;
use crate::evaluate::{Evaluated, ScoreError, ScoreOptions, evaluate, same_items};

/// A metric of some items, with its interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricScore {
    /// The metric.
    pub metric: &'static str,
    /// The number; `None` where it is undefined.
    pub value: Option<f64>,
    /// The lower end of its 95 % interval over the items.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// How the interval was made: `hall` or `wilson` in closed form, `bca` or `percentile` of replicates.
    pub method: Option<&'static str>,
    /// Why there is no interval although there could be one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_interval: Option<&'static str>,
    /// Why there is no number, or what must be said beside it.
    #[serde(serialize_with = "in_words")]
    pub note: Option<Note>,
}

/// Some of the items.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Slice {
    /// All items.
    All,
    /// Those between two shares of the items, sorted by how much people disagree.
    Entropy {
        /// The share of the items that lie below it.
        from: f64,
        /// That share with its own items.
        to: f64,
        /// The smallest entropy of an item, in nats.
        lower: f64,
        /// The largest.
        upper: f64,
    },
}

impl fmt::Display for Slice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Entropy { from, to, lower, upper } = self else { return f.write_str("all") };
        let (from, to) = (100.0 * from, 100.0 * to);
        write!(f, "{from:.0}–{to:.0} % (H {lower:.3}–{upper:.3})")
    }
}

impl Serialize for Slice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A model on some items.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scores {
    /// The model.
    pub model: String,
    /// Which items.
    pub slice: Slice,
    /// How many items.
    pub items: usize,
    /// The metrics, in the order in which they were asked for.
    pub metrics: Vec<MetricScore>,
}

impl Scores {
    /// A metric by its name, where it was asked for.
    pub fn metric(&self, name: &str) -> Option<&MetricScore> {
        self.metrics.iter().find(|score| score.metric == name)
    }
}

fn in_words<S: Serializer>(note: &Option<Note>, serializer: S) -> Result<S::Ok, S::Error> {
    note.map(|note| note.to_string()).serialize(serializer)
}

/// Matches a model's predictions with the votes and scores them.
pub fn score(
    table: &VoteTable,
    predictions: &Predictions,
    options: &ScoreOptions,
) -> Result<Scores, ScoreError> {
    evaluate(table, predictions, options)?.score(options, &Silent)
}

/// Scores several models: each on all items and, where slices are asked for, on so many of them by how
/// much people disagree; with what the votes of their items allow, from so many divisions of the votes.
pub fn score_models(
    table: &VoteTable,
    models: &[Evaluated],
    slices: Option<usize>,
    repeats: Option<usize>,
    options: &ScoreOptions,
    progress: &dyn Progress,
) -> Result<(Vec<Scores>, Option<Ceiling>), ScoreError> {
    // Models with other items have other ceilings.
    if repeats.is_some() && !same_items(models) {
        return Err(ScoreError::OtherItems);
    }
    let mut scores = Vec::new();
    for model in models {
        match slices {
            Some(slices) => scores.extend(model.score_by_entropy(slices, options, progress)?),
            None => scores.push(model.score(options, progress)?),
        }
    }
    let allowed = match (repeats, models.first()) {
        (Some(repeats), Some(model)) => Some(ceiling(table, &model.items, repeats, options)?),
        _ => None,
    };
    Ok((scores, allowed))
}

impl Evaluated {
    /// The metrics of all items.
    pub fn score(
        &self,
        options: &ScoreOptions,
        progress: &dyn Progress,
    ) -> Result<Scores, ScoreError> {
        let task = Task::new(&self.name, options.chosen()?, progress, 1);
        let scores = self.scores(Slice::All, &self.judged, options, &task);
        task.finish();
        scores
    }

    /// The metrics of all items, and of this many slices of them by how much people disagree.
    pub fn score_by_entropy(
        &self,
        slices: usize,
        options: &ScoreOptions,
        progress: &dyn Progress,
    ) -> Result<Vec<Scores>, ScoreError> {
        let found = by_entropy(self.judged.truth(), slices).map_err(|error| self.failed(error))?;
        let task = Task::new(&self.name, options.chosen()?, progress, 1 + found.len());
        let all = self.scores(Slice::All, &self.judged, options, &task)?;
        let mut scores = vec![all];
        for slice in found {
            let measure::Slice { from, to, lower, upper, items } = slice;
            let part = self.judged.select(&items).map_err(|error| self.failed(error))?;
            let slice = Slice::Entropy { from, to, lower, upper };
            scores.push(self.scores(slice, &part, options, &task)?);
        }
        task.finish();
        Ok(scores)
    }

    fn scores(
        &self,
        slice: Slice,
        part: &Judged,
        options: &ScoreOptions,
        task: &Task<'_>,
    ) -> Result<Scores, ScoreError> {
        // What several metrics share is computed once.
        let scorer = Scorer::new(part, options.settings).map_err(|error| self.failed(error))?;
        let metrics: Result<Vec<MetricScore>, ScoreError> = task
            .metrics
            .iter()
            .map(|metric| {
                task.step();
                metric_score(&scorer, metric, options)
            })
            .collect();
        let (model, items) = (self.name.clone(), part.len());
        Ok(Scores { model, slice, items, metrics: metrics? })
    }
}

fn metric_score(
    scorer: &Scorer<'_>,
    metric: &'static Metric,
    options: &ScoreOptions,
) -> Result<MetricScore, ScoreError> {
    let part = scorer.judged();
    let Value { value, note } = (metric.compute)(scorer);
    let name = metric.about.name;
    let mut score = MetricScore {
        metric: name,
        value,
        low: None,
        high: None,
        method: None,
        no_interval: None,
        note,
    };
    let finite = value.filter(|value| value.is_finite() && part.len() >= 2);
    let Some(value) = finite.filter(|_| options.replicates != Some(0)) else { return Ok(score) };
    if let Interval::Unknown(why) = metric.interval {
        score.no_interval = Some(why);
        return Ok(score);
    }
    // The closed forms ask for their values themselves.
    let resampled = metric.per_item.filter(|_| options.replicates.is_some());
    let per_item = resampled.and_then(|per_item| per_item(scorer));
    let of_rows = |rows: &[usize]| {
        let some = part.select(rows).ok()?;
        (metric.compute)(&Scorer::new(&some, options.settings).ok()?).value
    };
    let closed = || interval(metric, value, scorer);
    if let Some((low, high, method)) =
        options.interval(metric, closed, part.len(), per_item.as_deref(), of_rows)?
    {
        (score.low, score.high, score.method) = (Some(low), Some(high), Some(method));
    }
    Ok(score)
}

/// The steps of scoring a model, as they are reported.
struct Task<'a> {
    name: &'a str,
    metrics: Vec<&'static Metric>,
    progress: &'a dyn Progress,
    total: u64,
    done: std::cell::Cell<u64>,
}

impl<'a> Task<'a> {
    fn new(
        name: &'a str,
        metrics: Vec<&'static Metric>,
        progress: &'a dyn Progress,
        parts: usize,
    ) -> Self {
        let total = (parts * metrics.len()) as u64;
        progress.report(Event::Started { task: name, total: Some(total), unit: Unit::Steps });
        Self { name, metrics, progress, total, done: std::cell::Cell::new(0) }
    }

    fn step(&self) {
        self.done.set(self.done.get() + 1);
        let (task, done, total) = (self.name, self.done.get(), Some(self.total));
        self.progress.report(Event::Advanced { task, done, total, detail: "" });
    }

    fn finish(self) {
        self.progress.report(Event::Finished { task: self.name });
    }
}
