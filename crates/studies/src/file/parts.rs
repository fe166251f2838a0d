//! `[[dataset]]`, `[[slice]]` and `[scale.NAME]`.

use dissensus_examine::Slice;
use dissensus_report::tables::Votes;
use dissensus_train::{ConfigError, Place};

use super::{Axis, Layer, Part, Section, Setting, is_name};

/// A dataset of a study.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DatasetChoice {
    /// Its name in results.
    pub name: String,
    /// Its title in reports.
    pub title: String,
    /// The names of its classes in reports, in their order; empty for their own names.
    pub classes: Vec<String>,
    /// The keys of runs that it changes.
    pub set: Vec<Setting>,
    pub(crate) classes_place: Place,
}

impl DatasetChoice {
    pub(crate) fn read(section: &Section<'_>) -> Result<Self, ConfigError> {
        let part = Part::new(section, "dataset")?;
        let name = part.name(is_name)?;
        Ok(Self {
            title: part.title(&name)?,
            classes: part.get("classes")?.unwrap_or_default(),
            set: part.set(Layer::Dataset)?,
            classes_place: section.place("classes"),
            name,
        })
    }
}

/// Items by how much annotators disagree on them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SliceRule {
    /// Its name in results.
    pub name: String,
    /// Which items.
    pub by: Slice,
}

impl SliceRule {
    pub(crate) fn read(section: &Section<'_>) -> Result<Self, ConfigError> {
        let part = Part::new(section, "slice")?;
        let name = part.name(|name| is_name(name) && name != "all")?;
        let top = part.checked("top", |top: f64| (top > 0.0 && top <= 1.0).then_some(top))?;
        let above = part
            .checked("above", |above: f64| (above >= 0.0 && above.is_finite()).then_some(above))?;
        let by = match (top, above) {
            (Some(top), None) => Slice::Top(top),
            (None, Some(above)) => Slice::Above(above),
            _ => {
                return Err(ConfigError::Conflict {
                    key: section.key(&name),
                    place: section.place("name"),
                    why: "needs one of `top` (a share) and `above` (an entropy)".into(),
                });
            }
        };
        Ok(Self { name, by })
    }
}

/// A named set of changes to all runs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Scale {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub about: String,
    /// The keys of runs that it changes.
    pub set: Vec<Setting>,
    /// The largest number of seeds per arm.
    pub seeds: Option<u64>,
    /// Only these numbers of votes (`None`: all votes); empty for all numbers.
    pub ks: Vec<Option<u32>>,
    /// Fewer values on these axes of the grid.
    pub grid: Vec<Axis>,
}

impl Scale {
    pub(crate) fn read(name: &str, section: &Section<'_>) -> Result<Self, ConfigError> {
        let part = Part::new(section, "scale")?;
        let count = |key| part.checked(key, |number: i64| (number > 0).then_some(number));
        let mut set = part.set(Layer::Study)?;
        if let Some(items) = count("items")? {
            let (path, value) = ("data.items".into(), toml::Value::Integer(items));
            set.push(Setting { path, value, place: section.place("items") });
        }
        let grid = section
            .node("grid")
            .map(|node| Axis::all(&Section::new(section.text, section.key("grid"), node)?));
        let ks = part.checked("ks", |ks: Vec<Votes>| {
            let ks: Vec<Option<u32>> = ks.into_iter().map(|votes| votes.0).collect();
            (!ks.contains(&Some(0))).then_some(ks)
        })?;
        Ok(Self {
            name: name.to_owned(),
            about: section.words("about")?,
            set,
            seeds: count("seeds")?.map(i64::unsigned_abs),
            ks: ks.unwrap_or_default(),
            grid: grid.transpose()?.unwrap_or_default(),
        })
    }
}
