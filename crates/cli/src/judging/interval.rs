//! A metric of some items, with a bootstrap interval over items.
//!
//! Where a metric is the mean of a value of each item, the interval is BCa. Where it is a property
//! of a set (calibration errors, correlations), every replicate computes it anew, with fewer
//! replicates, and the interval is read off by percentiles: BCa would leave out every item once.

use dissensus_measure::{Judged, Metric, Scorer, Settings, Value};
use dissensus_stats::bootstrap::{
    BootstrapSettings, IntervalMethod, Plan, bootstrap, bootstrap_mean,
};
use serde::Serialize;

/// Replicates of a metric that is computed anew for each, at the most.
const SET_REPLICATES: usize = 200;

/// A number and its interval.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Interval {
    pub(crate) metric: &'static str,
    pub(crate) value: Option<f64>,
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
    /// `bca` or `percentile`.
    pub(crate) method: Option<&'static str>,
    /// Why there is no number, or what must be said beside it.
    pub(crate) note: Option<String>,
}

pub(crate) fn interval(
    judged: &Judged,
    metric: &'static Metric,
    settings: Settings,
    replicates: usize,
    seed: u64,
) -> anyhow::Result<Interval> {
    let scorer = Scorer::new(judged, settings)?;
    let Value { value, note } = (metric.compute)(&scorer);
    let mut result = Interval {
        metric: metric.about.name,
        value,
        low: None,
        high: None,
        method: None,
        note: note.map(|note| note.to_string()),
    };
    let finite = value.is_some_and(f64::is_finite);
    if replicates == 0 || !finite || judged.len() < 2 {
        return Ok(result);
    }
    let per_item = metric.per_item.and_then(|per_item| per_item(&scorer));
    let drawn = match per_item {
        Some(values) => {
            let method = IntervalMethod::Bca;
            let settings =
                BootstrapSettings { replicates, method, seed, ..BootstrapSettings::default() };
            result.method = Some("bca");
            bootstrap_mean(&values, &settings)?
        }
        None => {
            let method = IntervalMethod::Percentile;
            let replicates = replicates.min(SET_REPLICATES);
            let boot =
                BootstrapSettings { replicates, method, seed, ..BootstrapSettings::default() };
            let statistic = |rows: &[usize]| {
                let some = judged.select(rows).ok()?;
                (metric.compute)(&Scorer::new(&some, settings).ok()?).value
            };
            result.method = Some("percentile");
            bootstrap(&Plan::Rows { n: judged.len() }, statistic, &boot)?
        }
    };
    (result.low, result.high) = (drawn.low, drawn.high);
    Ok(result)
}
