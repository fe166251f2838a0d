//! `[selection]`: which epoch is selected, and early stopping.

use dissensus_core::Direction;
use dissensus_measure::{METRICS, Metric, metric};
use serde::{Deserialize, Serialize};

use super::read::{Reader, flag, number, one_of, text, whole};
use crate::stopping::Stop;
use crate::{ConfigError, Place};

/// How an epoch is selected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelectionChoice {
    /// The metric.
    pub metric: String,
    /// The part of the split it is computed on.
    pub on: String,
    /// Early stopping; `None` for none.
    pub stop: Option<Stop>,
}

impl SelectionChoice {
    /// Selection on one of these parts, the first of which is trained on.
    pub(super) fn read(
        reader: &mut Reader<'_>,
        parts: &[&'static str],
    ) -> Result<Self, ConfigError> {
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
pub fn selectable(name: &str, key: &str, place: &Place) -> Result<Direction, ConfigError> {
    let directed = |metric: &&Metric| metric.about.direction.is_directed();
    let names = || METRICS.iter().filter(directed).map(|metric| metric.about.name);
    let known = names().collect::<Vec<_>>().join(", ");
    let (key, place) = (place.key(key), place.clone());
    match metric(name).map(|metric| metric.about.direction) {
        Some(direction) if direction.is_directed() => Ok(direction),
        Some(direction) => Err(ConfigError::Conflict {
            key,
            place,
            why: format!("is {name:?}: {direction}, so it selects nothing; use one of {known}"),
        }),
        None => Err(ConfigError::unknown_name(key, name, names(), &place)),
    }
}
