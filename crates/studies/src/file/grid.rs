//! `[grid]`: a search over settings, for each arm.

use dissensus_train::{ConfigError, Place};

use super::{Layer, Part, Section, Setting, names, refuse, settings};

/// An axis of a grid.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Axis {
    /// The key, named with its section.
    pub path: String,
    /// Its values, in order.
    pub values: Vec<toml::Value>,
    pub(crate) place: Place,
}

/// A search over settings, for each arm.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Grid {
    /// The axes; the last varies fastest.
    pub axes: Vec<Axis>,
    /// The metric that selects a point; `None` for the metric that selects an epoch.
    pub select: Option<String>,
    /// The part of the split it is computed on; `None` for that which selects an epoch.
    pub on: Option<String>,
    /// The seed of the search.
    pub seed: u64,
    pub(crate) select_place: Place,
    pub(crate) on_place: Place,
}

impl Axis {
    fn new(Setting { path, value, place }: Setting) -> Result<Self, ConfigError> {
        refuse(Layer::Grid, &path, &place)?;
        let values = value.as_array().cloned().unwrap_or_default();
        let twice = values.iter().enumerate().any(|(at, one)| values[..at].contains(one));
        if values.is_empty() || twice {
            let (key, found) = (format!("[grid] {path}"), value.to_string());
            let expected = "a list of values, none twice".into();
            return Err(ConfigError::Value { key, found, expected, place });
        }
        Ok(Self { path, values, place })
    }

    /// The axes of a table.
    pub(super) fn all(section: &Section<'_>) -> Result<Vec<Self>, ConfigError> {
        settings(section, "")?.into_iter().map(Self::new).collect()
    }
}

impl Grid {
    pub(crate) fn read(section: &Section<'_>) -> Result<Self, ConfigError> {
        let part = Part { section, of: "grid" };
        let own = names("grid");
        let (axes, bare): (Vec<Setting>, Vec<Setting>) = settings(section, "")?
            .into_iter()
            .filter(|one| !own.contains(&one.path.as_str()))
            .partition(|one| one.path.contains('.'));
        // A key without a section is a mistake in one of the grid's own.
        if let Some(bare) = bare.into_iter().next() {
            return Err(section.unknown(&bare.path, bare.place, &own));
        }
        Ok(Self {
            axes: axes.into_iter().map(Axis::new).collect::<Result<_, _>>()?,
            select: part.get("select")?,
            on: part.get("on")?,
            seed: part.get("seed")?.unwrap_or(0),
            select_place: section.place("select"),
            on_place: section.place("on"),
        })
    }

    /// All combinations of the axes' values, without the axes that an arm sets itself; the last axis
    /// varies fastest.
    pub(crate) fn points(&self, own: &[Setting]) -> Vec<Vec<Setting>> {
        let mut points = vec![Vec::new()];
        for axis in self.axes.iter().filter(|axis| own.iter().all(|own| own.path != axis.path)) {
            let with = |point: &Vec<Setting>| {
                let each = axis.values.iter().map(|value| {
                    let (path, value, place) =
                        (axis.path.clone(), value.clone(), axis.place.clone());
                    [&point[..], &[Setting { path, value, place }]].concat()
                });
                each.collect::<Vec<_>>()
            };
            points = points.iter().flat_map(with).collect();
        }
        points
    }
}
