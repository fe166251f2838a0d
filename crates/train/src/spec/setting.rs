//! One key with its value and position: from a section of a file, or from an override.

use serde::Deserialize;
use toml::Value;
use toml::de::{DeValue, ValueDeserializer};

use super::SECTIONS;
use super::section::Section;
use crate::{ConfigError, Place};

/// A key with its section, and its value.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Section and key, as in `training.epochs`.
    pub path: String,
    /// The value.
    pub value: Value,
    /// Where it is written.
    pub place: Place,
}

impl Setting {
    /// Settings of a path, such as `training.epochs`: one, or those of a table.
    pub fn of(path: &str, value: impl Into<Value>, place: &Place) -> Vec<Self> {
        let mut all = Vec::new();
        flatten(path.to_owned(), value.into(), place, &mut all);
        all
    }
}

/// The settings of a table in the order of the text. Keys are relative to `prefix` (empty, or a
/// section with a dot behind it), and `"training.epochs"` is the same as `training.epochs`.
pub fn settings(section: &Section<'_>, prefix: &str) -> Result<Vec<Setting>, ConfigError> {
    let mut all = Vec::new();
    for (key, at, node) in section.entries() {
        let path = format!("{prefix}{key}");
        match node.get_ref() {
            // An empty table is a value: `selection.stop = {}` enables early stopping.
            DeValue::Table(table)
                if SECTIONS.contains(&path.as_str()) && table.iter().next().is_some() =>
            {
                let inner = Section::new(section.text, section.title.clone(), node)?;
                all.extend(settings(&inner, &format!("{path}."))?);
            }
            _ => {
                let (value, place) = (section.text.read(node)?, section.text.place(at));
                all.push(Setting { path, value, place });
            }
        }
    }
    Ok(all)
}

/// The settings of an override `section.key=value`: one, or those of a table. The value is TOML or,
/// where it is not valid TOML, text.
pub fn overrides(given: &str) -> Result<Vec<Setting>, ConfigError> {
    let bad = |why: &str| ConfigError::Override { text: given.to_owned(), why: why.to_owned() };
    let (path, value) = given.split_once('=').ok_or_else(|| bad("there is no ="))?;
    let (path, value) = (path.trim(), value.trim());
    let word = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
    };
    if !(path.contains('.') && path.split('.').all(word)) {
        return Err(bad("there is no section and key before the ="));
    }
    if value.is_empty() {
        return Err(bad("there is no value"));
    }
    let read =
        DeValue::parse(value).and_then(|value| Value::deserialize(ValueDeserializer::from(value)));
    let value = match read {
        Ok(value) => value,
        Err(_) if value.starts_with(['[', '{', '"', '\'']) => {
            return Err(bad(
                r#"the value is not TOML (names in a list need quotes, ["soft", "sls"])"#,
            ));
        }
        Err(_) => Value::String(value.to_owned()),
    };
    let mut all = Vec::new();
    flatten(path.to_owned(), value, &Place::Override(given.to_owned()), &mut all);
    Ok(all)
}

fn flatten(path: String, value: Value, place: &Place, all: &mut Vec<Setting>) {
    match value {
        Value::Table(table) if SECTIONS.contains(&path.as_str()) && !table.is_empty() => {
            for (key, value) in table {
                flatten(format!("{path}.{key}"), value, place, all);
            }
        }
        value => all.push(Setting { path, value, place: place.clone() }),
    }
}
