//! Intervals over items of a metric, and of the difference of two models on the same items: in closed form, for every
//! metric that is a mean of items or moves as one does.

use dissensus_stats::StatsError;
use dissensus_stats::interval::{Interval, mean_interval, share_interval};

use crate::Scorer;
use crate::metrics::{self, Metric, Transform};

/// The share of samples whose interval holds the value of the population.
pub const CONFIDENCE: f64 = 0.95;

/// The interval of a metric whose value is known; `None` where it has none, or is infinite.
pub fn interval(
    metric: &Metric,
    value: f64,
    scorer: &Scorer<'_>,
) -> Result<Option<Interval>, StatsError> {
    let Some(values) = values(metric, scorer) else { return Ok(None) };
    let scale = match metric.interval {
        metrics::Interval::Linear { scale, .. } => scale,
        metrics::Interval::Mean | metrics::Interval::Unknown(_) => Transform::Identity,
    };
    match scale {
        Transform::Identity => {
            let found = match share_interval(&values, CONFIDENCE)? {
                Some(found) => Some(found),
                None => mean_interval(&values, CONFIDENCE)?,
            };
            // What is never below 0 on an item is not below 0 in the population.
            let least =
                if values.iter().all(|value| *value >= 0.0) { 0.0 } else { f64::NEG_INFINITY };
            Ok(found.map(|found| Interval { low: found.low.max(least), ..found }))
        }
        _ => {
            let values = scale.apply(value, &values);
            if values.iter().any(|value| !value.is_finite()) {
                return Ok(None);
            }
            let on_scale = mean_interval(&values, CONFIDENCE)?;
            let back = |found: Interval| Interval {
                low: scale.back(found.low),
                high: scale.back(found.high),
                ..found
            };
            Ok(on_scale.map(back))
        }
    }
}

/// The interval of a metric of `b` less that of `a`, of the same items in the same order.
pub fn difference_interval(
    metric: &Metric,
    a: &Scorer<'_>,
    b: &Scorer<'_>,
) -> Result<Option<Interval>, StatsError> {
    match values(metric, a).zip(values(metric, b)) {
        Some((a, b)) => {
            let gaps: Vec<f64> = a.iter().zip(b.iter()).map(|(a, b)| b - a).collect();
            mean_interval(&gaps, CONFIDENCE)
        }
        None => Ok(None),
    }
}

/// Values on items whose mean is the metric, all finite.
fn values<'s>(metric: &Metric, scorer: &'s Scorer<'_>) -> Option<std::borrow::Cow<'s, [f64]>> {
    let values = match metric.interval {
        metrics::Interval::Mean => metric.per_item?(scorer),
        metrics::Interval::Linear { values, .. } => values(scorer),
        metrics::Interval::Unknown(_) => None,
    };
    values.filter(|values| values.iter().all(|value| value.is_finite()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, K, judge};
    use crate::{METRICS, Settings};

    #[test]
    fn intervals_hold_their_estimates() {
        let judged = testing::judged();
        let scorer = Scorer::new(&judged, Settings::default()).unwrap();
        for metric in METRICS {
            let value = (metric.compute)(&scorer).value.unwrap();
            let found = interval(metric, value, &scorer).unwrap();
            let wanted = !matches!(metric.interval, metrics::Interval::Unknown(_));
            assert_eq!(found.is_some(), wanted, "{}", metric.about.name);
            let Some(found) = found else { continue };
            assert!(found.low < value && value < found.high, "{}: {found:?}", metric.about.name);
        }
    }

    #[test]
    fn a_model_does_not_differ_from_itself() {
        let judged = testing::judged();
        let other: Vec<f64> = testing::logits().iter().map(|logit| 1.5 * logit).collect();
        let other = judge(&testing::votes(), &other, K, None);
        let [a, b] = [&judged, &other].map(|one| Scorer::new(one, Settings::default()).unwrap());
        for metric in METRICS {
            let Some(same) = difference_interval(metric, &a, &a).unwrap() else { continue };
            assert_eq!((same.low, same.high), (0.0, 0.0), "{}", metric.about.name);
            let there = difference_interval(metric, &a, &b).unwrap();
            let back = difference_interval(metric, &b, &a).unwrap();
            let sum = there.zip(back).map(|(there, back)| (there.low + back.high).abs());
            assert!(sum.is_none_or(|sum| sum < 1e-9), "{}: {there:?} {back:?}", metric.about.name);
        }
    }

    #[test]
    fn what_is_infinite_or_alone_has_none() {
        let one = judge(&[1.0, 2.0], &[0.0, 0.5], 2, None);
        let scorer = Scorer::new(&one, Settings::default()).unwrap();
        for metric in METRICS {
            let Some(value) = (metric.compute)(&scorer).value else { continue };
            assert_eq!(interval(metric, value, &scorer).unwrap(), None, "{}", metric.about.name);
        }
    }
}
