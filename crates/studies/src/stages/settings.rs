//! Settings that several stages read in the same way.

use std::ops::RangeInclusive;

use dissensus_engine::Precision;
use dissensus_examine::Slice;
use dissensus_report::book::Metric;
use dissensus_store::Which;
use serde_json::{Value, json};

use crate::StudyError;
use crate::file::{Section, SliceRule};
use crate::study::unknown;

/// The range of most counts.
pub(super) const MANY: RangeInclusive<usize> = 1..=1_000_000;

/// Behind the names of metrics of the last epoch.
const LAST: &str = ".last";

/// Which epochs of a run are looked at: `which`, or these.
pub(super) fn which(section: &Section<'_>, default: &[Which]) -> Result<Vec<Which>, StudyError> {
    const WHICH: &str = "\"best\", \"last\" or \"both\"";
    let named = section.checked("which", WHICH, |name: String| match name.as_str() {
        "best" => Some(vec![Which::Best]),
        "last" => Some(vec![Which::Last]),
        "both" => Some(vec![Which::Best, Which::Last]),
        _ => None,
    })?;
    Ok(named.unwrap_or_else(|| default.to_vec()))
}

/// What a metric of that epoch is called.
pub(super) fn named(metric: &str, which: Which) -> String {
    match which {
        Which::Best => metric.to_owned(),
        Which::Last => format!("{metric}{LAST}"),
    }
}

/// A metric of the selected epoch, said of that one.
pub(super) fn said(mut metric: Metric, which: Which) -> Metric {
    if which == Which::Last {
        metric.name = named(&metric.name, which);
        metric.title += ", last epoch";
        metric.what += ", after the last epoch instead of the selected one";
    }
    metric
}

/// A whole number of this range.
pub(super) fn count(
    section: &Section<'_>,
    key: &str,
    range: RangeInclusive<usize>,
) -> Result<Option<usize>, StudyError> {
    let expected = format!("a whole number from {} to {}", range.start(), range.end());
    Ok(section.checked(key, &expected, |n| Some(n).filter(|n| range.contains(n)))?)
}

/// A number between 0 and 1.
pub(super) fn share(section: &Section<'_>, key: &str) -> Result<Option<f64>, StudyError> {
    let between = |share: f64| (share > 0.0 && share < 1.0).then_some(share);
    Ok(section.checked(key, "a number above 0 and below 1", between)?)
}

pub(super) fn seed(section: &Section<'_>) -> Result<u64, StudyError> {
    Ok(section.get("seed", "a whole number, at least 0")?.unwrap_or(0))
}

pub(super) fn precision(section: &Section<'_>) -> Result<Precision, StudyError> {
    const PRECISION: &str =
        "\"f32\", \"tf32\", \"bf16\" or \"bf16x3\" (a CPU takes f32 for all of them)";
    Ok(section.get("precision", PRECISION)?.unwrap_or_default())
}

/// The slices that are named; all of the study's where none are.
pub(super) fn slices(
    section: &Section<'_>,
    known: &[SliceRule],
) -> Result<Vec<SliceRule>, StudyError> {
    let Some(names) = section.get::<Vec<String>>("slices", "a list of slices")? else {
        return Ok(known.to_vec());
    };
    let mut chosen = Vec::new();
    for name in names.iter().filter(|name| *name != "all") {
        let Some(rule) = known.iter().find(|rule| rule.name == *name) else {
            let all = std::iter::once("all").chain(known.iter().map(|rule| rule.name.as_str()));
            return Err(unknown(&section.key("slices"), name, all, &section.place("slices")));
        };
        chosen.push(rule.clone());
    }
    Ok(chosen)
}

/// Slices as part of what decides a number.
pub(super) fn told(slices: &[SliceRule]) -> Value {
    let slice = |rule: &SliceRule| match rule.by {
        Slice::All => json!({ "name": rule.name }),
        Slice::Top(share) => json!({ "name": rule.name, "top": share }),
        Slice::Above(entropy) => json!({ "name": rule.name, "above": entropy }),
    };
    slices.iter().map(slice).collect()
}

/// The mean; `None` of nothing.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
