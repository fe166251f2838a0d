//! From text to settings with their places: the TOML of a spec, overrides on top of it, and not a
//! key among them that the list does not have.

use std::collections::BTreeMap;
use std::ops::Range;

use dissensus_labels::nearest;
use serde::Deserialize;
use toml::Value;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::keys::{KEYS, SECTIONS, names, top};
use crate::{Place, SpecError};

/// A value and where it was written.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) value: Value,
    pub(super) place: Place,
}

/// (section, key) → what was written.
pub(super) type Nodes = BTreeMap<(String, String), Node>;

/// The settings of a spec called `name`.
pub(super) fn collect(text: &str, name: &str) -> Result<Nodes, SpecError> {
    let (mut nodes, place) = (Nodes::new(), places(text, name));
    Walk { place: &place, nodes: &mut nodes }.text(text)?;
    Ok(nodes)
}

/// The settings of a spec that is a table in a longer text.
pub(super) fn collect_table(
    text: &str,
    name: &str,
    table: &DeTable<'_>,
) -> Result<Nodes, SpecError> {
    let (mut nodes, place) = (Nodes::new(), places(text, name));
    Walk { place: &place, nodes: &mut nodes }.spec(table)?;
    Ok(nodes)
}

/// Replaces a setting by an override as it is given to the program.
pub(super) fn override_with(nodes: &mut Nodes, given: &str) -> Result<(), SpecError> {
    let (path, value) = setting(given)?;
    replace(nodes, &path, &value, &Place::Override(given.to_owned()))
}

/// Replaces a setting, named with its section, by a value that was written elsewhere.
pub(super) fn replace(
    nodes: &mut Nodes,
    path: &str,
    value: &Value,
    place: &Place,
) -> Result<(), SpecError> {
    if !is_path(path) {
        let why = "is not a section and a key, as in training.epochs".to_owned();
        return Err(SpecError::Conflict { key: path.to_owned(), place: place.clone(), why });
    }
    Walk { place: &|_| place.clone(), nodes }.text(&format!("{path} = {value}"))
}

/// Where something stands in a text.
fn places<'a>(text: &'a str, name: &'a str) -> impl Fn(Range<usize>) -> Place + 'a {
    move |at| Place::in_text(name, text, at.start)
}

/// Whether this is a section and a key.
fn is_path(path: &str) -> bool {
    let word = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
    };
    path.contains('.') && path.split('.').all(word)
}

/// The key, named with its section, and the value of an override `section.key=value`. The value is
/// TOML or, where it is not, text.
pub fn setting(given: &str) -> Result<(String, Value), SpecError> {
    let bad = |why: &str| SpecError::Override { text: given.to_owned(), why: why.to_owned() };
    let (path, value) = given.split_once('=').ok_or_else(|| bad("there is no ="))?;
    let (path, value) = (path.trim(), value.trim());
    if !is_path(path) {
        return Err(bad("what is set is not a section and a key"));
    }
    if value.is_empty() {
        return Err(bad("there is no value"));
    }
    let read =
        DeValue::parse(value).and_then(|value| Value::deserialize(ValueDeserializer::from(value)));
    match read {
        Ok(value) => Ok((path.to_owned(), value)),
        Err(_) if value.starts_with(['[', '{', '"', '\'']) => {
            Err(bad(r#"the value is not TOML (names in a list need quotes, ["soft", "sls"])"#))
        }
        Err(_) => Ok((path.to_owned(), Value::String(value.to_owned()))),
    }
}

struct Walk<'a> {
    place: &'a dyn Fn(Range<usize>) -> Place,
    nodes: &'a mut Nodes,
}

impl Walk<'_> {
    fn text(&mut self, text: &str) -> Result<(), SpecError> {
        let spec = DeTable::parse(text).map_err(|error| self.syntax(&error))?;
        self.spec(spec.get_ref())
    }

    fn spec(&mut self, spec: &DeTable<'_>) -> Result<(), SpecError> {
        for (name, at, value) in in_order(spec) {
            let known = top().any(|section| section == name);
            match value.get_ref() {
                DeValue::Table(table) if known => self.section(name, table)?,
                DeValue::Table(_) => return Err(self.unknown_section(name, at)),
                _ if known => return Err(self.not_a_table(name, value, at)),
                _ => return Err(self.outside(name, at)),
            }
        }
        Ok(())
    }

    fn section(&mut self, section: &str, table: &DeTable<'_>) -> Result<(), SpecError> {
        for (name, at, value) in in_order(table) {
            let inner = format!("{section}.{name}");
            let is_key = KEYS.iter().any(|key| key.section == section && key.name == name);
            match value.get_ref() {
                DeValue::Table(table) if SECTIONS.contains(&inner.as_str()) => {
                    // Where a table can be switched off as a whole, being there switches it on.
                    if is_key {
                        self.put(section, name, Value::Boolean(true), at);
                    }
                    self.section(&inner, table)?;
                }
                _ if is_key => {
                    let read = Value::deserialize(ValueDeserializer::from(value.clone()));
                    let read = read.map_err(|error| self.syntax(&error))?;
                    self.nodes.retain(|(section, _), _| *section != inner);
                    self.put(section, name, read, at);
                }
                _ if SECTIONS.contains(&inner.as_str()) => {
                    return Err(self.not_a_table(&inner, value, at));
                }
                _ => return Err(self.unknown_key(section, name, at)),
            }
        }
        Ok(())
    }

    fn put(&mut self, section: &str, name: &str, value: Value, at: Range<usize>) {
        let node = Node { value, place: (self.place)(at) };
        self.nodes.insert((section.to_owned(), name.to_owned()), node);
    }

    fn syntax(&self, error: &toml::de::Error) -> SpecError {
        let place = (self.place)(error.span().unwrap_or_default());
        SpecError::Syntax { place, message: error.message().trim().replace('\n', "; ") }
    }

    fn unknown_section(&self, name: &str, at: Range<usize>) -> SpecError {
        let known: Vec<String> = top().map(|section| format!("[{section}]")).collect();
        let hint =
            format!("did you mean [{}]? There are {}", nearest(name, top()), known.join(", "));
        SpecError::UnknownSection { name: name.to_owned(), place: (self.place)(at), hint }
    }

    fn unknown_key(&self, section: &str, name: &str, at: Range<usize>) -> SpecError {
        let hint = belongs(name).unwrap_or_else(|| {
            let known = names(section);
            let near = nearest(name, known.iter().copied());
            format!("did you mean `{near}`? [{section}] has {}", known.join(", "))
        });
        let (name, section) = (name.to_owned(), section.to_owned());
        SpecError::UnknownKey { name, section, place: (self.place)(at), hint }
    }

    fn not_a_table(
        &self,
        section: &str,
        value: &toml::Spanned<DeValue<'_>>,
        at: Range<usize>,
    ) -> SpecError {
        SpecError::NotATable {
            section: section.to_owned(),
            found: format!("of the type {}", value.get_ref().type_str()),
            place: (self.place)(at),
            keys: names(section).join(", "),
        }
    }

    fn outside(&self, name: &str, at: Range<usize>) -> SpecError {
        let all = || KEYS.iter().map(|key| key.name);
        let meant = nearest(name, all());
        let belongs = belongs(meant).unwrap_or_default();
        let why = match meant == name {
            true => format!("stands outside of every section; {belongs}"),
            false => format!("stands outside of every section; did you mean `{meant}`? {belongs}"),
        };
        SpecError::Conflict { key: name.to_owned(), place: (self.place)(at), why }
    }
}

/// Where a key of this name would stand.
fn belongs(name: &str) -> Option<String> {
    let mut sections: Vec<String> = Vec::new();
    for section in SECTIONS.iter().filter(|section| names(section).contains(&name)) {
        sections.push(format!("[{section}]"));
    }
    (!sections.is_empty()).then(|| format!("`{name}` belongs in {}", sections.join(" or ")))
}

/// A table's entries as they stand in the text, so that the first mistake is named first.
fn in_order<'t, 'i>(
    table: &'t DeTable<'i>,
) -> Vec<(&'t str, Range<usize>, &'t toml::Spanned<DeValue<'i>>)> {
    let entry = |(key, value): (&'t toml::Spanned<_>, _)| -> (&'t str, _, _) {
        let text: &std::borrow::Cow<'_, str> = key.get_ref();
        (text.as_ref(), key.span(), value)
    };
    let mut entries: Vec<_> = table.iter().map(entry).collect();
    entries.sort_by_key(|(_, at, _)| at.start);
    entries
}
