//! A study's TOML, section by section: no key that is not known, and every error with its line.

mod parts;
mod settings;

use std::borrow::Cow;
use std::ops::Range;

use dissensus_labels::nearest;
use dissensus_train::Place;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use crate::StudyError;

pub use parts::{Arm, Axis, DatasetChoice, Grid, Scale, SliceBy, SliceRule, VotesChoice};
pub use settings::Setting;
pub(crate) use settings::{Layer, refuse, settings};

/// A value with its place.
pub(crate) type Node<'i> = Spanned<DeValue<'i>>;

/// The text of a study, and what it is called.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a> {
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
}

impl<'a> Text<'a> {
    pub(crate) fn place(self, at: Range<usize>) -> Place {
        Place::in_text(self.name, self.text, at.start)
    }

    pub(crate) fn syntax(self, error: &toml::de::Error) -> StudyError {
        let place = self.place(error.span().unwrap_or_default());
        StudyError::Syntax { place, message: error.message().trim().replace('\n', "; ") }
    }

    pub(crate) fn parse(self) -> Result<Spanned<DeTable<'a>>, StudyError> {
        DeTable::parse(self.text).map_err(|error| self.syntax(&error))
    }

    /// A value of any type that can be read from one.
    pub(crate) fn read<T: DeserializeOwned>(self, node: &Node<'_>) -> Result<T, StudyError> {
        T::deserialize(ValueDeserializer::from(node.clone())).map_err(|error| self.syntax(&error))
    }
}

/// A table of a study.
pub(crate) struct Section<'a, 't, 'i> {
    pub(crate) text: Text<'a>,
    /// What errors call it: `[grid]`, `[[arm]]`.
    pub(crate) title: String,
    at: Range<usize>,
    table: &'t DeTable<'i>,
}

/// An entry of a table: its key, where that stands, and the value.
pub(crate) type Entry<'t, 'i> = (&'t str, Range<usize>, &'t Node<'i>);

impl<'a, 't, 'i> Section<'a, 't, 'i> {
    /// The whole of a study.
    pub(crate) fn root(text: Text<'a>, table: &'t Spanned<DeTable<'i>>) -> Self {
        Self { text, title: "the study".into(), at: 0..0, table: table.get_ref() }
    }

    pub(crate) fn new(
        text: Text<'a>,
        title: impl Into<String>,
        node: &'t Node<'i>,
    ) -> Result<Self, StudyError> {
        let title = title.into();
        match node.get_ref() {
            DeValue::Table(table) => Ok(Self { text, title, at: node.span(), table }),
            other => Err(StudyError::Value {
                key: title,
                found: format!("of the type {}", other.type_str()),
                expected: "a table".into(),
                place: text.place(node.span()),
            }),
        }
    }

    /// The entries as they stand in the text.
    pub(crate) fn entries(&self) -> Vec<Entry<'t, 'i>> {
        let entry = |(key, node): (&'t Spanned<Cow<'i, str>>, _)| -> Entry<'t, 'i> {
            (key.get_ref(), key.span(), node)
        };
        let mut entries: Vec<_> = self.table.iter().map(entry).collect();
        entries.sort_by_key(|(_, at, _)| at.start);
        entries
    }

    /// Refuses keys that are not among these.
    pub(crate) fn known(&self, keys: &[&str]) -> Result<(), StudyError> {
        match self.entries().into_iter().find(|(key, ..)| !keys.contains(key)) {
            None => Ok(()),
            Some((key, at, _)) => Err(StudyError::UnknownKey {
                name: key.to_owned(),
                section: self.title.clone(),
                place: self.text.place(at),
                nearest: nearest(key, keys.iter().copied()).to_owned(),
                known: keys.join(", "),
            }),
        }
    }

    pub(crate) fn node(&self, key: &str) -> Option<&'t Node<'i>> {
        self.table.get(key)
    }

    /// Where a key's value stands; where there is none, the table.
    pub(crate) fn place(&self, key: &str) -> Place {
        self.text.place(self.node(key).map_or(self.at.clone(), Node::span))
    }

    /// A key's name in errors.
    pub(crate) fn key(&self, key: &str) -> String {
        format!("{} {key}", self.title)
    }

    /// What is written at a key, where it can be read as `expected`.
    pub(crate) fn get<T: DeserializeOwned>(
        &self,
        key: &str,
        expected: &str,
    ) -> Result<Option<T>, StudyError> {
        let Some(node) = self.node(key) else { return Ok(None) };
        match T::deserialize(ValueDeserializer::from(node.clone())) {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(self.unexpected(key, expected)),
        }
    }

    /// As [`get`](Self::get), and it must be there.
    pub(crate) fn need<T: DeserializeOwned>(
        &self,
        key: &str,
        expected: &str,
    ) -> Result<T, StudyError> {
        self.get(key, expected)?.ok_or_else(|| StudyError::Missing {
            study: format!("{} of {}", self.title, self.text.name),
            key: key.to_owned(),
            remedy: format!("give it {expected}"),
        })
    }

    /// A text, or nothing where there is none.
    pub(crate) fn words(&self, key: &str) -> Result<String, StudyError> {
        Ok(self.get::<String>(key, "a text")?.unwrap_or_default().trim().to_owned())
    }

    /// A name: letters, digits, and a few signs.
    pub(crate) fn name(&self, key: &str) -> Result<String, StudyError> {
        let name: String = self.need(key, NAME)?;
        match is_name(&name) {
            true => Ok(name),
            false => Err(self.unexpected(key, NAME)),
        }
    }

    pub(crate) fn unexpected(&self, key: &str, expected: &str) -> StudyError {
        let found = self.node(key).map_or("not there".to_owned(), found);
        let (key, place) = (self.key(key), self.place(key));
        StudyError::Value { key, found, expected: expected.to_owned(), place }
    }

    /// The tables of a list of tables; none where there is no such key.
    pub(crate) fn list(&self, key: &str) -> Result<Vec<Section<'a, 't, 'i>>, StudyError> {
        let Some(node) = self.node(key) else { return Ok(Vec::new()) };
        let DeValue::Array(array) = node.get_ref() else {
            let expected = format!("a list of tables, each beginning with [[{key}]]");
            return Err(self.unexpected(key, &expected));
        };
        let title = format!("[[{key}]]");
        array.iter().map(|node| Section::new(self.text, title.as_str(), node)).collect()
    }

    /// A table; `None` where there is no such key.
    pub(crate) fn table(&self, key: &str) -> Result<Option<Section<'a, 't, 'i>>, StudyError> {
        let section = |node| Section::new(self.text, format!("[{key}]"), node);
        self.node(key).map(section).transpose()
    }

    pub(crate) fn de(&self) -> &'t DeTable<'i> {
        self.table
    }

    /// All of it as a value.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, StudyError> {
        self.text.read(&Spanned::new(self.at.clone(), DeValue::Table(self.table.clone())))
    }
}

const NAME: &str = "a name of letters, digits and the signs - _ . : =";

/// Whether this can be the name of an arm, a data set or a slice.
fn is_name(name: &str) -> bool {
    let sign = |c: char| c.is_ascii_alphanumeric() || "-_.:=".contains(c);
    !name.is_empty() && name.chars().all(sign)
}

/// A value as it would be written, cut where it is long.
pub(crate) fn found(node: &Node<'_>) -> String {
    const LONGEST: usize = 80;
    let value = toml::Value::deserialize(ValueDeserializer::from(node.clone()));
    let text = value.map_or_else(|_| node.get_ref().type_str().to_owned(), |v| v.to_string());
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
