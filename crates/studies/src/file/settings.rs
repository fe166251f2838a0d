//! Keys of a run's spec, set by a study: `"training.rate" = 0.1`, or `training.rate = 0.1`.

use dissensus_train::Place;
use toml::Value;
use toml::de::DeValue;

use super::Section;
use crate::StudyError;

/// A key of a run's spec, named with its section, and its value.
#[derive(Clone, Debug)]
pub struct Setting {
    /// As in `training.rate`.
    pub path: String,
    /// The value.
    pub value: Value,
    /// Where it was written.
    pub place: Place,
}

/// The settings in a table, in the order of the text; tables within it are parts of the names.
pub(crate) fn settings(section: &Section<'_, '_, '_>) -> Result<Vec<Setting>, StudyError> {
    let mut all = Vec::new();
    collect(section, "", &mut all)?;
    Ok(all)
}

fn collect(
    section: &Section<'_, '_, '_>,
    before: &str,
    all: &mut Vec<Setting>,
) -> Result<(), StudyError> {
    for (key, at, node) in section.entries() {
        let path = format!("{before}{key}");
        match node.get_ref() {
            // An empty one switches something on, as `selection.stop = {}` does.
            DeValue::Table(table) if table.iter().next().is_some() => {
                let inner = Section::new(section.text, section.title.clone(), node)?;
                collect(&inner, &format!("{path}."), all)?;
            }
            _ => {
                let (value, place) = (section.text.read(node)?, section.text.place(at));
                all.push(Setting { path, value, place });
            }
        }
    }
    Ok(())
}

/// What a setting is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layer {
    /// The base of all runs.
    Base,
    /// A data set.
    Dataset,
    /// An arm.
    Arm,
    /// All runs, over everything else: a scale, or what a user sets.
    Study,
    /// An axis of the grid.
    Grid,
}

/// Refuses keys that a study has other words for, and those that would do nothing there: no setting
/// is accepted and dropped.
pub(crate) fn refuse(layer: Layer, path: &str, place: &Place) -> Result<(), StudyError> {
    let section = path.split('.').next().unwrap_or_default();
    let own = path == "run.precision";
    let why = match (layer, path, section) {
        (_, "delivery.methods", _) => "has its own place: write it as an arm's `delivery`",
        (Layer::Arm | Layer::Study | Layer::Grid, "data.votes_per_item", _) => {
            "has its own place: write it as an arm's `votes`"
        }
        (Layer::Base, ..) => return Ok(()),
        (_, "run.seeds", _) => "has its own place: write it as `seeds`",
        (Layer::Study, ..) => return Ok(()),
        (_, _, "run") if !own => "is the same for all runs: set it in [spec.run]",
        (Layer::Grid, _, "data" | "split") => {
            "changes what is measured, so that the points of a grid could not be compared; make \
             it an arm or a data set"
        }
        _ => return Ok(()),
    };
    let (key, place) = (path.to_owned(), place.clone());
    Err(StudyError::Conflict { key, place, why: why.to_owned() })
}
