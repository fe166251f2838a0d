//! Models against each other on the same items; methods against each other over paired seeds.

use dissensus_core::{Event, Progress, Unit};
use dissensus_measure::intervals::difference_interval;
use dissensus_measure::{Metric, Score};
use dissensus_stats::adjust::Correction;
use dissensus_stats::effect::{cohen_dz, rank_biserial};
use dissensus_stats::paired::{
    PairedTest, WilcoxonSettings, ZeroMethod, differences, paired_t, sign_test, wilcoxon,
};
use dissensus_stats::smallest::SmallestP;
use dissensus_stats::{Alternative, LEVEL, StatsError, describe};
use serde::Serialize;

use crate::evaluate::{Evaluated, ModelReading, ScoreError, ScoreOptions};

/// Models compared with the first of them, item by item.
///
/// The intervals are over items: they say how certain a difference is for these trained models, not
/// whether the method would win again with other seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ItemComparison {
    /// The first model.
    pub baseline: String,
    /// How many items all models predict.
    pub items: usize,
    /// How the predictions of each model were read and matched, and how many are left out because
    /// another model does not predict the item.
    pub models: Vec<ModelReading>,
    /// Bootstrap replicates behind the intervals; `None` where these are in closed form.
    pub replicates: Option<usize>,
    /// The seed of the bootstrap.
    pub seed: u64,
    /// Every other model and metric.
    pub differences: Vec<Difference>,
}

/// A model against the first, in one metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The model.
    pub model: String,
    /// The metric.
    pub metric: &'static str,
    /// The first model's value.
    pub baseline_value: Option<f64>,
    /// This model's value.
    pub value: Option<f64>,
    /// This model's value less the first model's.
    pub difference: Option<f64>,
    /// The lower end of its 95 % interval over the items.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// Cohen's d_z over items, where the metric has a value for each.
    pub d_z: Option<f64>,
}

impl Difference {
    /// Whether the interval excludes 0.
    pub fn excludes_zero(&self) -> bool {
        matches!((self.low, self.high), (Some(low), Some(high)) if low > 0.0 || high < 0.0)
    }
}

/// Compares every model with the first. All are evaluated on the same items
/// ([`evaluate_common`](crate::evaluate_common)).
pub fn compare_items(
    models: &[Evaluated],
    options: &ScoreOptions,
    progress: &dyn Progress,
) -> Result<ItemComparison, ScoreError> {
    let [first, others @ ..] = models else { return Err(ScoreError::TooFew { models: 0 }) };
    if others.is_empty() {
        return Err(ScoreError::TooFew { models: 1 });
    }
    let chosen = options.chosen()?;
    let (task, total) = ("comparing", Some((others.len() * chosen.len()) as u64));
    progress.report(Event::Started { task, total, unit: Unit::Steps });
    let mut differences = Vec::new();
    for other in others {
        for metric in &chosen {
            differences.push(difference(first, other, metric, options)?);
            let done = differences.len() as u64;
            progress.report(Event::Advanced { task, done, total, detail: "" });
        }
    }
    progress.report(Event::Finished { task });
    let (baseline, items) = (first.name.clone(), first.items.len());
    let (replicates, seed) = (options.replicates, options.seed);
    let models = models.iter().map(Evaluated::reading).collect();
    Ok(ItemComparison { baseline, items, models, replicates, seed, differences })
}

fn difference(
    first: &Evaluated,
    other: &Evaluated,
    metric: &'static Metric,
    options: &ScoreOptions,
) -> Result<Difference, ScoreError> {
    let (a, b) = (first.scorer(options.settings)?, other.scorer(options.settings)?);
    let (va, vb) = ((metric.compute)(&a).value, (metric.compute)(&b).value);
    let gap = |a: Option<f64>, b: Option<f64>| Some(b? - a?).filter(|d| d.is_finite());
    let mut result = Difference {
        model: other.name.clone(),
        metric: metric.about.name,
        baseline_value: va,
        value: vb,
        difference: gap(va, vb),
        low: None,
        high: None,
        d_z: None,
    };
    if result.difference.is_none() || first.items.len() < 2 || options.replicates == Some(0) {
        return Ok(result);
    }
    let per_item = metric.per_item.and_then(|of| Some((of(&a)?, of(&b)?)));
    let gaps: Option<Vec<f64>> =
        per_item.map(|(a, b)| a.iter().zip(b.iter()).map(|(a, b)| b - a).collect());
    if let Some(gaps) = &gaps {
        result.d_z = cohen_dz(gaps)?.dz;
    }
    // The same items for both models in every replicate: the difference is paired.
    let value = |model: &Evaluated, rows: &[usize]| {
        let some = model.judged.select(rows).ok()?;
        let scorer = dissensus_measure::Scorer::new(&some, options.settings).ok()?;
        (metric.compute)(&scorer).value
    };
    let of_rows = |rows: &[usize]| gap(value(first, rows), value(other, rows));
    let closed = || difference_interval(metric, &a, &b);
    let found = options.interval(metric, closed, first.items.len(), gaps.as_deref(), of_rows)?;
    (result.low, result.high) = found.map(|(low, high, _)| (low, high)).unzip();
    Ok(result)
}

/// Two methods compared over paired seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeedComparison {
    /// How many pairs of seeds.
    pub pairs: usize,
    /// The side of the tests: `two-sided`, `less` or `greater`.
    pub alternative: &'static str,
    /// The smallest p that so many pairs can give.
    pub smallest_p: Option<f64>,
    /// What that means, in a sentence.
    pub note: String,
    /// The metrics.
    pub tests: Vec<SeedTest>,
    /// Metrics that are undefined or infinite for a seed, and therefore not tested.
    #[serde(skip)]
    pub untested: Vec<&'static str>,
}

/// Two methods in one metric. Differences are `b − a`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeedTest {
    /// The metric.
    pub metric: &'static str,
    /// The values of the first method, by seed.
    pub a: Vec<f64>,
    /// The values of the second.
    pub b: Vec<f64>,
    /// The mean of the first method.
    pub mean_a: f64,
    /// Its sample standard deviation.
    pub sd_a: Option<f64>,
    /// The mean of the second.
    pub mean_b: f64,
    /// Its sample standard deviation.
    pub sd_b: Option<f64>,
    /// The mean of the differences.
    pub mean_difference: f64,
    /// Wilcoxon's signed-rank test, exact for few pairs.
    pub wilcoxon_p: Option<f64>,
    /// The same after Holm's correction over the metrics.
    pub wilcoxon_p_holm: Option<f64>,
    /// The paired t test.
    pub t_p: Option<f64>,
    /// The sign test.
    pub sign_p: Option<f64>,
    /// Cohen's d_z.
    pub d_z: Option<f64>,
    /// The rank-biserial correlation.
    pub rank_biserial: Option<f64>,
}

impl SeedTest {
    /// Whether the corrected p is below 0.05.
    pub fn is_significant(&self) -> bool {
        self.wilcoxon_p_holm.is_some_and(|p| p < LEVEL)
    }
}

/// Tests two methods over paired seeds: the metrics of each seed ([`Evaluated::values`]), in the
/// same order for both. `b − a` is tested, so that [`Alternative::Less`] means that `b` is less.
pub fn compare_seeds(
    a: &[Vec<Score>],
    b: &[Vec<Score>],
    alternative: Alternative,
) -> Result<SeedComparison, ScoreError> {
    if a.len() != b.len() {
        return Err(ScoreError::NotPaired { a: a.len(), b: b.len() });
    }
    let (mut tests, mut untested) = (Vec::new(), Vec::new());
    for (at, score) in a.first().into_iter().flatten().enumerate() {
        let column = |rows: &[Vec<Score>]| -> Option<Vec<f64>> {
            rows.iter().map(|row| row.get(at)?.value.value.filter(|v| v.is_finite())).collect()
        };
        match (column(a), column(b)) {
            (Some(a), Some(b)) => tests.push(test(score.metric, a, b, alternative)?),
            _ => untested.push(score.metric),
        }
    }
    let raw: Vec<Option<f64>> = tests.iter().map(|test| test.wilcoxon_p).collect();
    let holm = Correction::Holm.adjust(&raw)?;
    for (test, p) in tests.iter_mut().zip(holm.p) {
        test.wilcoxon_p_holm = p;
    }
    let smallest = SmallestP::of(PairedTest::Wilcoxon, alternative, a.len(), 0)?;
    Ok(SeedComparison {
        pairs: a.len(),
        alternative: alternative.name(),
        smallest_p: smallest.as_ref().map(|smallest| smallest.p),
        note: smallest.as_ref().map_or(String::new(), |smallest| smallest.note(LEVEL)),
        tests,
        untested,
    })
}

fn test(
    metric: &'static str,
    a: Vec<f64>,
    b: Vec<f64>,
    alternative: Alternative,
) -> Result<SeedTest, StatsError> {
    let d = differences(&b, &a)?;
    let settings = WilcoxonSettings { alternative, ..WilcoxonSettings::default() };
    Ok(SeedTest {
        metric,
        mean_a: describe::mean(&a)?,
        sd_a: describe::sd(&a)?,
        mean_b: describe::mean(&b)?,
        sd_b: describe::sd(&b)?,
        mean_difference: describe::mean(&d)?,
        wilcoxon_p: wilcoxon(&d, &settings)?.p,
        wilcoxon_p_holm: None,
        t_p: paired_t(&d, alternative)?.p,
        sign_p: sign_test(&d, alternative)?.p,
        d_z: cohen_dz(&d)?.dz,
        rank_biserial: rank_biserial(&d, ZeroMethod::default())?.r,
        a,
        b,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use dissensus_measure::Value;

    use super::*;

    fn seeds(values: &[f64]) -> Vec<Vec<Score>> {
        let score = |&value: &f64| {
            let nll = Value { value: Some(value), note: None };
            let none = Value { value: None, note: None };
            vec![Score { metric: "soft_nll", value: nll }, Score { metric: "kl", value: none }]
        };
        values.iter().map(score).collect()
    }

    /// scipy 1.17.1: `scipy.stats.wilcoxon(b - a).pvalue` of five pairs of one sign is 2 / 2⁵.
    #[test]
    fn five_pairs_of_one_sign() {
        let a = seeds(&[0.5, 0.52, 0.48, 0.51, 0.53]);
        let b = seeds(&[0.4, 0.44, 0.41, 0.45, 0.48]);
        let found = compare_seeds(&a, &b, Alternative::TwoSided).unwrap();
        assert_eq!((found.pairs, found.smallest_p, found.untested), (5, Some(0.0625), vec!["kl"]));
        let test = &found.tests[0];
        assert_eq!((test.wilcoxon_p, test.wilcoxon_p_holm), (Some(0.0625), Some(0.0625)));
        assert!((test.mean_difference + 0.072).abs() < 1e-12 && !test.is_significant());
    }

    #[test]
    fn seeds_are_paired() {
        let (a, b) = (seeds(&[0.5]), seeds(&[0.4, 0.3]));
        let error = compare_seeds(&a, &b, Alternative::Less).unwrap_err();
        assert_eq!(error, ScoreError::NotPaired { a: 1, b: 2 });
    }
}
