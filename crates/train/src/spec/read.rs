//! Settings as typed values: each is read once by its [`Key`], in range, or takes its default. A
//! setting that was never read does not apply, and is an error.

use std::collections::BTreeMap;

use toml::Value;

use super::draft::Nodes;
use super::keys::{KEYS, Key, When, choices};
use super::section::written;
use crate::{ConfigError, Place};

/// Why a value is refused.
pub(super) enum Refusal {
    /// It is of another type, or out of range.
    Unexpected,
    /// It is none of these.
    Unknown(String, Vec<&'static str>),
    /// It is wrong in a way that is said here.
    Conflict(String),
}

pub(super) struct Reader<'a> {
    file: &'a str,
    nodes: Nodes,
    places: BTreeMap<String, Place>,
    chosen: BTreeMap<String, &'static str>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(file: &'a str, nodes: Nodes) -> Self {
        Self { file, nodes, places: BTreeMap::new(), chosen: BTreeMap::new() }
    }

    /// The key, as it applies with what has been chosen so far.
    fn key(&self, section: &str, name: &str) -> Option<&'static Key> {
        let counts = |key: &&Key| match key.when {
            When::Is(other, value) => self.chosen.get(other) == Some(&value),
            When::IsWith(other, value, third) => {
                self.chosen.get(other) == Some(&value) && self.places.contains_key(third)
            }
            When::Always | When::With(_) => true,
        };
        KEYS.iter().filter(|key| key.section == section && key.name == name).find(counts)
    }

    /// What is set, or the default; `None` where there is neither.
    pub(super) fn optional<T>(
        &mut self,
        section: &str,
        name: &str,
        convert: impl FnOnce(&Value) -> Result<T, Refusal>,
    ) -> Result<Option<T>, ConfigError> {
        let path = format!("{section}.{name}");
        let Some(key) = self.key(section, name) else { return Ok(None) };
        let node = self.nodes.remove(&(section.to_owned(), name.to_owned()));
        let (value, place) = match node {
            Some(node) => node,
            None => match key.default.and_then(|default| default.parse().ok()) {
                Some(value) => (value, Place::Call),
                None => return Ok(None),
            },
        };
        self.places.insert(path.clone(), place.clone());
        convert(&value).map(Some).map_err(|refusal| match refusal {
            Refusal::Unexpected => {
                let (found, expected) = (written(&value), key.expected.to_owned());
                ConfigError::Value { key: place.key(&path), found, expected, place }
            }
            Refusal::Unknown(found, known) => {
                ConfigError::unknown_name(place.key(&path), &found, known.iter().copied(), &place)
            }
            Refusal::Conflict(why) => ConfigError::Conflict { key: place.key(&path), place, why },
        })
    }

    /// What is set, or the default; an error where there is neither.
    pub(super) fn read<T>(
        &mut self,
        section: &str,
        name: &str,
        convert: impl FnOnce(&Value) -> Result<T, Refusal>,
    ) -> Result<T, ConfigError> {
        let expected = self.key(section, name).map_or("a key of the list", |key| key.expected);
        let read = self.optional(section, name, convert)?;
        read.ok_or_else(|| {
            self.missing(&format!("{section}.{name}"), &format!("give it {expected}"))
        })
    }

    /// One name of the key's list. Keys that depend on it apply from here on.
    pub(super) fn choose(
        &mut self,
        section: &str,
        name: &str,
    ) -> Result<&'static str, ConfigError> {
        let path = format!("{section}.{name}");
        let list = choices(&path).unwrap_or_default();
        let chosen = self.read(section, name, |value| one_of(value, list))?;
        self.chosen.insert(path, chosen);
        Ok(chosen)
    }

    /// Where a setting that was read is written.
    pub(super) fn place(&self, path: &str) -> Place {
        self.places.get(path).cloned().unwrap_or(Place::Call)
    }

    /// That a setting that was read conflicts with others.
    pub(super) fn conflict(&self, path: &str, why: impl Into<String>) -> ConfigError {
        let place = self.place(path);
        ConfigError::Conflict { key: place.key(path), place, why: why.into() }
    }

    /// That a required key is missing.
    pub(super) fn missing(&self, path: &str, remedy: &str) -> ConfigError {
        ConfigError::missing(self.file, path, remedy)
    }

    /// An error where a setting was not read.
    pub(super) fn finish(mut self) -> Result<(), ConfigError> {
        let Some(((section, name), (_, place))) = self.nodes.pop_first() else { return Ok(()) };
        let same = || KEYS.iter().filter(|key| key.section == section && key.name == name);
        let whens: Vec<When> = same().map(|key| key.when).collect();
        let why = match whens.as_slice() {
            [When::Is(other, _), ..] => {
                let value = |when: &When| match when {
                    When::Is(_, value) => *value,
                    _ => "",
                };
                let values: Vec<&str> = whens.iter().map(value).collect();
                let now = self.chosen.get(*other).copied().unwrap_or_default();
                format!(
                    "is a setting of {}, and {other} is {now}; remove it, or change {other}",
                    values.join(" and ")
                )
            }
            [When::With(other), ..] => {
                format!("needs {other}, which is not given; remove it, or give {other}")
            }
            _ => "has no effect here; remove it".to_owned(),
        };
        let key = place.key(&format!("{section}.{name}"));
        Err(ConfigError::Conflict { key, place, why })
    }
}

pub(super) fn one_of(value: &Value, list: &[&'static str]) -> Result<&'static str, Refusal> {
    let text = text(value)?;
    let known = list.iter().copied().find(|known| *known == text);
    known.ok_or_else(|| Refusal::Unknown(text, list.to_vec()))
}

pub(super) fn text(value: &Value) -> Result<String, Refusal> {
    let text = value.as_str().filter(|text| !text.trim().is_empty());
    text.map(str::to_owned).ok_or(Refusal::Unexpected)
}

pub(super) fn flag(value: &Value) -> Result<bool, Refusal> {
    value.as_bool().ok_or(Refusal::Unexpected)
}

/// A whole number of this range.
pub(super) fn whole(
    range: impl std::ops::RangeBounds<u64>,
) -> impl Fn(&Value) -> Result<u64, Refusal> {
    move |value| {
        let number = value.as_integer().and_then(|number| u64::try_from(number).ok());
        number.filter(|number| range.contains(number)).ok_or(Refusal::Unexpected)
    }
}

/// A finite number that passes. A whole number is one, too; -0 is 0, since a run's identity is made
/// of what is written.
pub(super) fn number(passes: impl Fn(f64) -> bool) -> impl Fn(&Value) -> Result<f64, Refusal> {
    move |value| {
        let number = value.as_float().or_else(|| value.as_integer().map(|number| number as f64));
        let number = number.filter(|number| number.is_finite() && passes(*number));
        number.map(|number| number + 0.0).ok_or(Refusal::Unexpected)
    }
}

/// One value or a list of them, none twice.
pub(super) fn several<T: PartialEq>(
    value: &Value,
    each: impl Fn(&Value) -> Result<T, Refusal>,
) -> Result<Vec<T>, Refusal> {
    let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    let mut all: Vec<T> = Vec::new();
    for value in values {
        let one = each(value)?;
        if all.contains(&one) {
            return Err(Refusal::Conflict(format!("names {} twice; remove one", written(value))));
        }
        all.push(one);
    }
    if all.is_empty() { Err(Refusal::Unexpected) } else { Ok(all) }
}
