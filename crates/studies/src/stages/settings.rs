//! Settings that several stages read in the same way.

use dissensus_engine::Precision;
use dissensus_report::book::Metric;
use dissensus_store::Which;
use serde_json::{Value, json};

use super::Among;
use crate::StudyError;
use crate::file::{Section, SliceBy, SliceRule};
use crate::study::unknown;

/// Refuses keys that are neither the stage's own nor those that choose runs, and reads the latter.
pub(super) fn among(
    section: Option<&Section<'_, '_, '_>>,
    own: &[&str],
) -> Result<Among, StudyError> {
    if let Some(section) = section {
        let keys: Vec<&str> = own.iter().copied().chain(Among::KEYS).collect();
        section.known(&keys)?;
    }
    Among::read(section)
}

/// Behind the names of metrics of the last epoch.
const LAST: &str = ".last";

/// Which epochs of a run are looked at: `which`, or these.
pub(super) fn which(
    section: &Section<'_, '_, '_>,
    default: Vec<Which>,
) -> Result<Vec<Which>, StudyError> {
    const WHICH: &str = "\"best\", \"last\" or \"both\"";
    match section.get::<String>("which", WHICH)?.as_deref() {
        None => Ok(default),
        Some("best") => Ok(vec![Which::Best]),
        Some("last") => Ok(vec![Which::Last]),
        Some("both") => Ok(vec![Which::Best, Which::Last]),
        Some(_) => Err(section.unexpected("which", WHICH).into()),
    }
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

pub(super) fn count(section: &Section<'_, '_, '_>, key: &str) -> Result<Option<usize>, StudyError> {
    const COUNT: &str = "a whole number from 1 to 1000000";
    match section.get::<usize>(key, COUNT)? {
        Some(number) if (1..=1_000_000).contains(&number) => Ok(Some(number)),
        Some(_) => Err(section.unexpected(key, COUNT).into()),
        None => Ok(None),
    }
}

pub(super) fn share(section: &Section<'_, '_, '_>, key: &str) -> Result<Option<f64>, StudyError> {
    const SHARE: &str = "a number above 0 and below 1";
    match section.get::<f64>(key, SHARE)? {
        Some(share) if share > 0.0 && share < 1.0 => Ok(Some(share)),
        Some(_) => Err(section.unexpected(key, SHARE).into()),
        None => Ok(None),
    }
}

pub(super) fn seed(section: &Section<'_, '_, '_>) -> Result<u64, StudyError> {
    Ok(section.get::<u64>("seed", "a whole number, at least 0")?.unwrap_or(0))
}

pub(super) fn precision(section: &Section<'_, '_, '_>) -> Result<Precision, StudyError> {
    const PRECISION: &str = "\"f32\", \"tf32\" or \"bf16\" (a CPU takes f32 for all of them)";
    Ok(section.get::<Precision>("precision", PRECISION)?.unwrap_or_default())
}

/// The slices that are named; all of the study's where none are.
pub(super) fn slices(
    section: &Section<'_, '_, '_>,
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
        SliceBy::Top(share) => json!({ "name": rule.name, "top": share }),
        SliceBy::Above(entropy) => json!({ "name": rule.name, "above": entropy }),
    };
    slices.iter().map(slice).collect()
}
