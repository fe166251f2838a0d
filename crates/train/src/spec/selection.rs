//! `[selection]`: which epoch is kept, and whether training may end early.

use dissensus_core::Direction;
use dissensus_labels::nearest;
use dissensus_measure::{METRICS, Metric, metric};
use serde::{Deserialize, Serialize};

use super::read::{Reader, flag, number, one_of, text, whole};
use crate::stopping::Stop;
use crate::{Place, SpecError};

/// How the epoch that is kept is selected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelectionChoice {
    /// By which metric.
    pub metric: String,
    /// On which part of the split.
    pub on: String,
    /// When training stops early; `None` for never.
    pub stop: Option<Stop>,
}

impl SelectionChoice {
    /// Selection on one of these parts, the first of which is trained on.
    pub(super) fn read(reader: &mut Reader<'_>, parts: &[&'static str]) -> Result<Self, SpecError> {
        let metric = reader.read("selection", "metric", text)?;
        selectable(&metric, "selection.metric", &reader.place("selection.metric"))?;
        let held_out = parts.get(1..).unwrap_or_default();
        let on = reader.read("selection", "on", |value| one_of(value, held_out))?.to_owned();
        let stop = if reader.read("selection", "stop", flag)? {
            let patience = reader.read("selection.stop", "patience", whole(1..))?;
            let minimum = reader.read("selection.stop", "minimum", number(|x| x >= 0.0))?;
            Some(Stop { patience, minimum })
        } else {
            None
        };
        Ok(Self { metric, on, stop })
    }
}

/// Which way a metric is better; an error where it is unknown, or where neither way is.
pub(crate) fn selectable(name: &str, key: &str, place: &Place) -> Result<Direction, SpecError> {
    let directed = |metric: &&Metric| metric.about.direction.is_directed();
    let names = || METRICS.iter().filter(directed).map(|metric| metric.about.name);
    let known = names().collect::<Vec<_>>().join(", ");
    let (key, place) = (key.to_owned(), place.clone());
    match metric(name).map(|metric| metric.about.direction) {
        Some(direction) if direction.is_directed() => Ok(direction),
        Some(direction) => Err(SpecError::Conflict {
            key,
            place,
            why: format!("is {name:?}: {direction}, so it selects nothing; use one of {known}"),
        }),
        None => Err(SpecError::UnknownName {
            key,
            found: name.to_owned(),
            nearest: nearest(name, names()).to_owned(),
            known,
            place,
        }),
    }
}
