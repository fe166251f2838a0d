//! Predictions beside votes: matched by id, checked, ready to be scored and compared.

use std::sync::Arc;

use dissensus_core::{Scale, ScaleError, TieRule, VoteTable, thousands};
use dissensus_labels::example_key;
use dissensus_measure::{
    Interval as MetricInterval, Judged, METRICS, Matrix, MeasureError, Metric, ModelOutput, Score,
    Scorer, Settings, Truth,
};
use dissensus_predictions::{
    AlignError, Aligned, ClassesMatched, Kind, Matched, Note, Predictions, align,
};
use dissensus_stats::StatsError;
use dissensus_stats::bootstrap::{
    BootstrapSettings, IntervalMethod, Plan, bootstrap, bootstrap_mean,
};
use dissensus_stats::interval::Interval;
use serde::Serialize;

/// The metrics where none are named.
pub const DEFAULT_METRICS: [&str; 8] = [
    "soft_nll",
    "kl",
    "soft_brier",
    "accuracy",
    "ece_mass",
    "ece_mass_human",
    "smooth_ece",
    "entropy_spearman",
];

/// Metrics by name: [`DEFAULT_METRICS`] where none are named, every one for `all`.
pub fn metrics(names: &[String]) -> Result<Vec<&'static Metric>, ScoreError> {
    if names.iter().any(|name| name == "all") {
        return Ok(METRICS.iter().collect());
    }
    let find = |name: &str| {
        let nearest = || dissensus_measure::nearest_metrics(name);
        let unknown = || ScoreError::UnknownMetric { name: name.to_owned(), nearest: nearest() };
        dissensus_measure::metric(name).ok_or_else(unknown)
    };
    match names.is_empty() {
        true => DEFAULT_METRICS.iter().map(|name| find(name)).collect(),
        false => names.iter().map(|name| find(name)).collect(),
    }
}

/// How predictions are evaluated, scored and compared.
#[derive(Clone, Debug, Default)]
pub struct ScoreOptions {
    /// The metrics by name. Empty: [`DEFAULT_METRICS`]; `all`: every metric.
    pub metrics: Vec<String>,
    /// Bins of calibration errors, and the smallest probability.
    pub settings: Settings,
    /// The majority label of items whose most-voted classes are tied.
    pub ties: TieRule,
    /// Labels from elsewhere, for `accuracy_given`: one label per item.
    pub labels: Option<VoteTable>,
    /// Intervals by so many bootstrap replicates; 0 for no intervals, `None` for those in closed form.
    pub replicates: Option<usize>,
    /// The seed of everything that is random.
    pub seed: u64,
}

impl ScoreOptions {
    /// The metrics that are asked for.
    pub fn chosen(&self) -> Result<Vec<&'static Metric>, ScoreError> {
        metrics(&self.metrics)
    }

    /// Passes where all of these metrics are defined for votes on this scale.
    pub(crate) fn require(&self, scale: Scale) -> Result<(), ScoreError> {
        let chosen = self.chosen()?;
        Ok(chosen.iter().try_for_each(|metric| metric.require(scale))?)
    }

    /// The interval of a metric, or of a difference, of items: in closed form, or by resampling where replicates are asked
    /// for. BCa where it is the mean of one value per item; what is computed again for every replicate is read off by
    /// percentiles, as BCa would leave out every item once.
    pub(crate) fn interval(
        &self,
        metric: &Metric,
        closed: impl FnOnce() -> Result<Option<Interval>, StatsError>,
        items: usize,
        per_item: Option<&[f64]>,
        of_rows: impl Fn(&[usize]) -> Option<f64> + Sync,
    ) -> Result<Option<Limits>, StatsError> {
        let replicates = match self.replicates {
            Some(0) => return Ok(None),
            _ if matches!(metric.interval, MetricInterval::Unknown(_)) => return Ok(None),
            Some(replicates) => replicates,
            None => {
                let found = closed()?;
                return Ok(found.map(|found| (found.low, found.high, found.method.name())));
            }
        };
        let all = BootstrapSettings { replicates, seed: self.seed, ..BootstrapSettings::default() };
        let (drawn, method) = match per_item {
            Some(values) => {
                let settings = BootstrapSettings { method: IntervalMethod::Bca, ..all };
                (bootstrap_mean(values, &settings)?, "bca")
            }
            None => {
                let settings = BootstrapSettings { method: IntervalMethod::Percentile, ..all };
                (bootstrap(&Plan::Rows { n: items }, of_rows, &settings)?, "percentile")
            }
        };
        Ok(drawn.low.zip(drawn.high).map(|(low, high)| (low, high, method)))
    }
}

/// The ends of an interval, and how it was made.
pub(crate) type Limits = (f64, f64, &'static str);

/// Why predictions cannot be evaluated, scored or compared.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScoreError {
    /// No metric has this name.
    #[error("there is no metric {name:?}")]
    UnknownMetric {
        /// The name.
        name: String,
        /// The known names nearest to it, nearest first.
        nearest: Vec<String>,
    },
    /// A metric that is not defined for the scale of the votes.
    #[error(transparent)]
    Scale(#[from] ScaleError),
    /// The predictions do not fit the votes.
    #[error(transparent)]
    Align(#[from] AlignError),
    /// No item is predicted by all of the models.
    #[error("no item is predicted by every model")]
    NothingCommon,
    /// Items that are predicted have no votes.
    #[error("{count} of the items have no votes, the first is {first:?}")]
    WithoutVotes {
        /// How many.
        count: usize,
        /// The id of the first.
        first: String,
    },
    /// A label from elsewhere is missing, or is none of the classes.
    #[error("labels: {0}")]
    Labels(LabelProblem),
    /// Predictions or settings that no metric can be computed of.
    #[error("{model}: {source}")]
    Measure {
        /// The model.
        model: String,
        /// What is wrong.
        source: MeasureError,
    },
    /// One model alone.
    #[error("nothing to compare: there are {models} model(s), at least 2 are needed")]
    TooFew {
        /// How many models there are.
        models: usize,
    },
    /// Two methods with different numbers of seeds.
    #[error("{a} seeds of one method and {b} of the other; seeds are compared in pairs")]
    NotPaired {
        /// Seeds of the first method.
        a: usize,
        /// Seeds of the second.
        b: usize,
    },
    /// Two predictions that are compared as a pair predict different items.
    #[error(
        "{a} and {b} do not predict the same items: {} in both, {} only in the first, {} only in the \
         second; a pair is compared on the same items",
        items.common,
        items.only_first,
        items.only_second
    )]
    DifferentItems {
        /// The first file.
        a: String,
        /// The second.
        b: String,
        /// How many items each predicts.
        items: ItemOverlap,
    },
    /// A ceiling is that of items, and the models predict different ones.
    #[error("a ceiling needs models that predict the same items")]
    OtherItems,
    /// The votes of each item are not known.
    #[error("only shares of the votes are known, not how many there are")]
    OnlyShares,
    /// Numbers that have no test or interval.
    #[error(transparent)]
    Stats(#[from] StatsError),
}

/// What is wrong with labels from elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LabelProblem {
    /// An item has none.
    #[error("no label for {item:?}")]
    Missing {
        /// The item.
        item: String,
    },
    /// An item does not have exactly one.
    #[error("{item:?} does not have exactly one label")]
    NotOne {
        /// The item.
        item: String,
    },
    /// A label is not one of the classes.
    #[error("{item:?} has the label {label:?}, the classes are {known}")]
    UnknownClass {
        /// The item.
        item: String,
        /// Its label.
        label: String,
        /// The classes, joined.
        known: String,
    },
}

/// A model's predictions beside the votes, on the items that have both.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// The model.
    pub name: String,
    /// Its predictions beside the votes.
    pub judged: Judged,
    /// The items, as places in the vote table.
    pub items: Vec<usize>,
    /// How items were matched.
    pub matched: Matched,
    /// How many items were matched; more than `items` where only common items are kept.
    pub matched_items: usize,
    /// Predictions whose item has no votes.
    pub without_votes: usize,
    /// What the predictions are.
    pub kind: Kind,
    /// Whether that was detected.
    pub kind_detected: bool,
    /// How classes were matched.
    pub classes_matched: ClassesMatched,
    /// The name of each class in the file (or its column) and in the votes, in the votes' order.
    pub classes: Vec<(String, String)>,
    /// What was assumed or changed in reading and matching.
    pub notes: Vec<Note>,
}

/// How the predictions of a model were read and matched with the votes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelReading {
    /// The model.
    pub model: String,
    /// What its numbers are.
    pub kind: Kind,
    /// Whether that was detected.
    pub kind_detected: bool,
    /// How items were matched.
    pub matched: Matched,
    /// How many items have predictions and votes.
    pub items: usize,
    /// Those that are left out because another model does not predict them.
    pub left_out: usize,
    /// Predictions whose item has no votes.
    pub without_votes: usize,
    /// How classes were matched.
    pub classes_matched: ClassesMatched,
    /// The name of each class in the file (or its column) and in the votes.
    pub classes: Vec<(String, String)>,
    /// What was assumed or changed.
    pub notes: Vec<Note>,
}

/// How the items of two models overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ItemOverlap {
    /// Items that both predict.
    pub common: usize,
    /// Items that only the first predicts.
    pub only_first: usize,
    /// Items that only the second predicts.
    pub only_second: usize,
}

impl ItemOverlap {
    /// The overlap of two lists of places in a vote table, both in order.
    pub fn of(first: &[usize], second: &[usize]) -> Self {
        let common = first.iter().filter(|item| second.binary_search(item).is_ok()).count();
        Self { common, only_first: first.len() - common, only_second: second.len() - common }
    }

    /// Whether both predict the same items.
    pub fn is_same(self) -> bool {
        self.only_first == 0 && self.only_second == 0
    }
}

/// Refuses two models that are compared as a pair and do not predict the same items: each is its name
/// and its items.
pub fn check_pair(a: (&str, &[usize]), b: (&str, &[usize])) -> Result<(), ScoreError> {
    let items = ItemOverlap::of(a.1, b.1);
    match items.is_same() {
        true => Ok(()),
        false => Err(ScoreError::DifferentItems { a: a.0.to_owned(), b: b.0.to_owned(), items }),
    }
}

/// Whether all models are evaluated on the same items, so that their scores can be compared.
pub fn same_items(models: &[Evaluated]) -> bool {
    models.windows(2).all(|pair| pair[0].items == pair[1].items)
}

impl Evaluated {
    /// What was detected, and how many of so many items were matched.
    pub fn note(&self, items: usize) -> String {
        let kind = self.kind.name();
        let how = if self.kind_detected { "detected" } else { "as said" };
        let by = match self.matched {
            Matched::ById => "by id",
            Matched::ByPosition => "by position",
        };
        let (name, matched) = (&self.name, thousands(self.matched_items));
        let mut line =
            format!("{name}: {kind} ({how}), {matched} of {} items matched {by}", thousands(items));
        if self.without_votes > 0 {
            line += &format!("; {} predictions have no votes", thousands(self.without_votes));
        }
        line
    }

    /// How its predictions were read and matched.
    pub fn reading(&self) -> ModelReading {
        ModelReading {
            model: self.name.clone(),
            kind: self.kind,
            kind_detected: self.kind_detected,
            matched: self.matched,
            items: self.matched_items,
            left_out: self.matched_items - self.items.len(),
            without_votes: self.without_votes,
            classes_matched: self.classes_matched,
            classes: self.classes.clone(),
            notes: self.notes.clone(),
        }
    }

    /// The metrics that are asked for, without intervals.
    pub fn values(&self, options: &ScoreOptions) -> Result<Vec<Score>, ScoreError> {
        let scorer = self.scorer(options.settings)?;
        let score = |metric: &&'static Metric| Score {
            metric: metric.about.name,
            value: (metric.compute)(&scorer),
        };
        Ok(options.chosen()?.iter().map(score).collect())
    }

    /// Computes metrics of it.
    pub fn scorer(&self, settings: Settings) -> Result<Scorer<'_>, ScoreError> {
        Scorer::new(&self.judged, settings).map_err(|source| self.failed(source))
    }

    pub(crate) fn failed(&self, source: MeasureError) -> ScoreError {
        ScoreError::Measure { model: self.name.clone(), source }
    }
}

/// Matches a model's predictions with the votes.
pub fn evaluate(
    table: &VoteTable,
    predictions: &Predictions,
    options: &ScoreOptions,
) -> Result<Evaluated, ScoreError> {
    options.require(table.scale())?;
    let aligned = align(table, predictions)?;
    let matched_items = aligned.items.len();
    beside(table, predictions, aligned, matched_items, options)
}

/// Matches the predictions of several models with the votes, on the items that all of them predict.
pub fn evaluate_common(
    table: &VoteTable,
    models: &[Predictions],
    options: &ScoreOptions,
) -> Result<Vec<Evaluated>, ScoreError> {
    options.require(table.scale())?;
    let aligned: Result<Vec<Aligned<'_>>, AlignError> =
        models.iter().map(|predictions| align(table, predictions)).collect();
    let aligned = aligned?;
    let in_all = |item: &usize| aligned.iter().all(|one| one.items.binary_search(item).is_ok());
    let first = aligned.first().map_or(&[][..], |first| &first.items);
    let common: Vec<usize> = first.iter().copied().filter(in_all).collect();
    if common.is_empty() && !aligned.is_empty() {
        return Err(ScoreError::NothingCommon);
    }
    let width = table.classes().len();
    let each = |(predictions, mut aligned): (&Predictions, Aligned<'_>)| {
        let matched_items = aligned.items.len();
        let rows = aligned.items.iter().zip(aligned.values.chunks_exact(width));
        let kept = rows.filter(|(item, _)| common.binary_search(item).is_ok());
        aligned.values = kept.flat_map(|(_, row)| row).copied().collect();
        aligned.items.clone_from(&common);
        beside(table, predictions, aligned, matched_items, options)
    };
    models.iter().zip(aligned).map(each).collect()
}

fn beside(
    table: &VoteTable,
    predictions: &Predictions,
    aligned: Aligned<'_>,
    matched_items: usize,
    options: &ScoreOptions,
) -> Result<Evaluated, ScoreError> {
    let name = &predictions.name;
    let failed = |source| ScoreError::Measure { model: name.clone(), source };
    let truth = truth(table, &aligned.items, options).map_err(|problem| match problem {
        Problem::Votes(MeasureError::NoVotes { rows }) => {
            let first = rows.first().and_then(|row| aligned.items.get(*row));
            let first = first.map_or("", |item| table.items().name(*item)).to_owned();
            ScoreError::WithoutVotes { count: rows.len(), first }
        }
        Problem::Votes(source) => failed(source),
        Problem::Labels(problem) => ScoreError::Labels(problem),
    })?;
    let matrix = Matrix::new(&aligned.values[..], predictions.width).map_err(failed)?;
    let output = match predictions.kind {
        Kind::Logits => ModelOutput::Logits(matrix),
        Kind::Probabilities => ModelOutput::Probabilities(matrix),
    };
    let judged = Judged::new(Arc::new(truth), output).map_err(failed)?;
    let Aligned { matched, items, without_votes, classes_matched, classes, notes, .. } = aligned;
    let Predictions { kind, kind_detected, .. } = *predictions;
    Ok(Evaluated {
        name: name.clone(),
        judged,
        items,
        matched,
        matched_items,
        without_votes,
        kind,
        kind_detected,
        classes_matched,
        classes,
        notes: predictions.notes.iter().cloned().chain(notes).collect(),
    })
}

/// What can be wrong with what people said.
enum Problem {
    Votes(MeasureError),
    Labels(LabelProblem),
}

/// What people said about these items.
fn truth(table: &VoteTable, items: &[usize], options: &ScoreOptions) -> Result<Truth, Problem> {
    let key = |row: usize| example_key(table.items().name(items[row]));
    let truth = Truth::from_table(table, items)
        .and_then(|truth| truth.with_ties(options.ties, options.seed, key))
        .map_err(Problem::Votes)?;
    let Some(labels) = &options.labels else { return Ok(truth) };
    let given = given_labels(labels, table, items).map_err(Problem::Labels)?;
    truth.with_given(&given).map_err(Problem::Votes)
}

/// The labels of these items, from a table with one label per item.
fn given_labels(
    labels: &VoteTable,
    table: &VoteTable,
    items: &[usize],
) -> Result<Vec<u32>, LabelProblem> {
    let counts = labels.counts();
    let names = labels.classes().names();
    let classes: Vec<Option<u16>> =
        names.iter().map(|name| table.classes().position(name)).collect();
    let label = |&item: &usize| {
        let name = table.items().name(item);
        let Some(place) = labels.items().position_near(name, item) else {
            return Err(LabelProblem::Missing { item: name.to_owned() });
        };
        let mut entries = counts.iter().flat_map(|counts| counts.entries(place));
        let (Some((class, 1)), None) = (entries.next(), entries.next()) else {
            return Err(LabelProblem::NotOne { item: name.to_owned() });
        };
        classes[usize::from(class)].map(u32::from).ok_or_else(|| LabelProblem::UnknownClass {
            item: name.to_owned(),
            label: labels.classes().name(class).to_owned(),
            known: table.classes().names().join(", "),
        })
    };
    items.iter().map(label).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use dissensus_predictions::{ReadOptions, read_bytes};

    use super::*;
    use crate::compare_items;

    #[test]
    fn items_that_not_all_models_predict_are_counted() {
        let votes = "id,cat,dog\na,3,1\nb,0,4\nc,2,2\nd,1,1\n";
        let values = Some(dissensus_votes::Values::Counts);
        let counts = dissensus_votes::ReadOptions { values, ..Default::default() };
        let table = dissensus_votes::read_bytes("v.csv", votes.into(), &counts);
        let table = table.unwrap().table;
        let read = |name: &str, ids: &[&str]| {
            let rows: String = ids.iter().map(|id| format!("{id},0.7,0.3\n")).collect();
            let text = format!("id,cat,dog\n{rows}");
            read_bytes(name, text.into(), &ReadOptions::default()).unwrap().remove(0)
        };
        let models = [read("x.csv", &["a", "b", "c"]), read("y.csv", &["d", "c", "b"])];
        let options = ScoreOptions { replicates: Some(0), ..ScoreOptions::default() };
        let each: Vec<Evaluated> =
            models.iter().map(|model| evaluate(&table, model, &options).unwrap()).collect();
        let items = ItemOverlap::of(&each[0].items, &each[1].items);
        assert_eq!(items, ItemOverlap { common: 2, only_first: 1, only_second: 1 });
        assert!(!same_items(&each) && !items.is_same());
        let error = check_pair(("x", &each[0].items), ("y", &each[1].items)).unwrap_err();
        let wanted = "x and y do not predict the same items: 2 in both, 1 only in the first, 1 only in \
                      the second; a pair is compared on the same items";
        assert_eq!(error.to_string(), wanted);
        let ceiling = |models: &[Evaluated]| {
            let silent = &dissensus_core::Silent;
            crate::score_models(&table, models, Some(2), Some(3), &options, silent)
        };
        assert_eq!(ceiling(&each).unwrap_err(), ScoreError::OtherItems);
        let common = evaluate_common(&table, &models, &options).unwrap();
        let (scores, allowed) = ceiling(&common).unwrap();
        assert_eq!(scores[0].slice, crate::Slice::All);
        assert!(matches!(scores[1].slice, crate::Slice::Entropy { from: 0.0, .. }));
        assert_eq!(allowed.unwrap().items, 2);
        assert!(same_items(&common));
        let found = compare_items(&common, &options, &dissensus_core::Silent).unwrap();
        let counts = found.models.iter().map(|m| (m.items, m.left_out));
        assert_eq!((found.items, counts.collect::<Vec<_>>()), (2, vec![(3, 1), (3, 1)]));
    }
}
