//! A configuration file as TOML tables whose entries know their line and column. Unknown keys are
//! errors, and every error names its position.

use std::ops::Range;
use std::sync::LazyLock;

use dissensus_labels::nearest;
use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue, ValueDeserializer};
use toml::{Spanned, Value};

use crate::{ConfigError, Place};

/// A value with its position.
pub type Node<'i> = Spanned<DeValue<'i>>;

/// An entry of a table: its key, the position of the key, and the value.
pub type Entry<'t> = (&'t str, Range<usize>, &'t Node<'t>);

/// The text of a file and its name in errors.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// The name of the file.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
}

impl<'a> Text<'a> {
    /// The text as TOML.
    pub fn parse(self) -> Result<Spanned<DeTable<'a>>, ConfigError> {
        DeTable::parse(self.text).map_err(|error| self.syntax(&error))
    }

    /// The line and column of a range of bytes.
    pub fn place(self, at: Range<usize>) -> Place {
        Place::in_text(self.name, self.text, at.start)
    }

    /// A value as any type that can be deserialized.
    pub fn read<T: DeserializeOwned>(self, node: &Node<'_>) -> Result<T, ConfigError> {
        T::deserialize(ValueDeserializer::from(node.clone())).map_err(|error| self.syntax(&error))
    }

    fn syntax(self, error: &toml::de::Error) -> ConfigError {
        let place = self.place(error.span().unwrap_or_default());
        ConfigError::Syntax { place, message: error.message().trim().replace('\n', "; ") }
    }
}

/// A table of a file.
#[derive(Clone, Debug)]
pub struct Section<'t> {
    /// The file.
    pub text: Text<'t>,
    /// Its name in errors: `[grid]`, `[[arm]]`.
    pub title: String,
    at: Range<usize>,
    table: &'t DeTable<'t>,
}

static EMPTY: LazyLock<DeTable<'static>> = LazyLock::new(DeTable::new);

impl<'t> Section<'t> {
    /// The whole file.
    pub fn root(text: Text<'t>, table: &'t Spanned<DeTable<'t>>) -> Self {
        Self { text, title: "the file".into(), at: 0..0, table: table.get_ref() }
    }

    /// A table that the file does not have, as one without keys.
    pub fn empty(text: Text<'t>, title: impl Into<String>) -> Self {
        Self { text, title: title.into(), at: 0..0, table: &EMPTY }
    }

    /// A table at this node; an error where it is another value.
    pub fn new(
        text: Text<'t>,
        title: impl Into<String>,
        node: &'t Node<'t>,
    ) -> Result<Self, ConfigError> {
        let (title, place) = (title.into(), text.place(node.span()));
        match node.get_ref() {
            DeValue::Table(table) => Ok(Self { text, title, at: node.span(), table }),
            other => Err(ConfigError::not_a_table(title, other.type_str(), "", place)),
        }
    }

    /// The entries in the order of the text, so that the first mistake is reported first.
    pub fn entries(&self) -> Vec<Entry<'t>> {
        let entries = self.table.iter().map(|(key, node)| (&**key.get_ref(), key.span(), node));
        let mut entries: Vec<Entry<'t>> = entries.collect();
        entries.sort_by_key(|(_, at, _)| at.start);
        entries
    }

    /// Refuses all other keys.
    pub fn known(&self, keys: &[&str]) -> Result<(), ConfigError> {
        match self.entries().into_iter().find(|(key, ..)| !keys.contains(key)) {
            None => Ok(()),
            Some((key, at, _)) => Err(self.unknown(key, self.text.place(at), keys)),
        }
    }

    /// That this section has no such key.
    pub fn unknown(&self, key: &str, place: Place, keys: &[&str]) -> ConfigError {
        let (near, all) = (nearest(key, keys.iter().copied()), keys.join(", "));
        let hint = match keys.is_empty() {
            true => format!("{} has no keys", self.title),
            false => format!("did you mean `{near}`? {} has {all}", self.title),
        };
        ConfigError::UnknownKey {
            name: key.to_owned(),
            section: self.title.clone(),
            place,
            hint,
            known: keys.iter().map(|&key| key.to_owned()).collect(),
        }
    }

    /// The value of a key.
    pub fn node(&self, key: &str) -> Option<&'t Node<'t>> {
        self.table.get(key)
    }

    /// The position of a key's value; without the key, that of the section.
    pub fn place(&self, key: &str) -> Place {
        self.text.place(self.node(key).map_or(self.at.clone(), Node::span))
    }

    /// A key's name in errors.
    pub fn key(&self, key: &str) -> String {
        format!("{} {key}", self.title)
    }

    /// The value of a key; an error where it is not `expected`.
    pub fn get<T: DeserializeOwned>(
        &self,
        key: &str,
        expected: &str,
    ) -> Result<Option<T>, ConfigError> {
        let Some(node) = self.node(key) else { return Ok(None) };
        match T::deserialize(ValueDeserializer::from(node.clone())) {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(self.unexpected(key, expected)),
        }
    }

    /// The value of a key, where it passes; an error where it is not `expected`.
    pub fn checked<T: DeserializeOwned, U>(
        &self,
        key: &str,
        expected: &str,
        check: impl FnOnce(T) -> Option<U>,
    ) -> Result<Option<U>, ConfigError> {
        let Some(value) = self.get(key, expected)? else { return Ok(None) };
        check(value).map(Some).ok_or_else(|| self.unexpected(key, expected))
    }

    /// The value of a required key.
    pub fn need<T: DeserializeOwned>(&self, key: &str, expected: &str) -> Result<T, ConfigError> {
        self.get(key, expected)?.ok_or_else(|| {
            let file = format!("{} of {}", self.title, self.text.name);
            ConfigError::missing(&file, key, &format!("give it {expected}"))
        })
    }

    /// A text; empty without the key.
    pub fn words(&self, key: &str) -> Result<String, ConfigError> {
        Ok(self.get::<String>(key, "a text")?.unwrap_or_default().trim().to_owned())
    }

    /// That the value of a key is not as expected.
    pub fn unexpected(&self, key: &str, expected: &str) -> ConfigError {
        let value = self.node(key).map(|node| self.text.read::<Value>(node));
        let found = match value {
            Some(Ok(value)) => written(&value),
            _ => "missing".to_owned(),
        };
        let (key, place) = (self.key(key), self.place(key));
        ConfigError::Value { key, found, expected: expected.to_owned(), place }
    }

    /// The tables of an array of tables; none without the key.
    pub fn list(&self, key: &str) -> Result<Vec<Section<'t>>, ConfigError> {
        let Some(node) = self.node(key) else { return Ok(Vec::new()) };
        let DeValue::Array(array) = node.get_ref() else {
            return Err(self.unexpected(key, &format!("a list of tables, as in [[{key}]]")));
        };
        let title = format!("[[{key}]]");
        array.iter().map(|node| Section::new(self.text, title.as_str(), node)).collect()
    }

    /// A table; `None` without the key.
    pub fn table(&self, key: &str) -> Result<Option<Section<'t>>, ConfigError> {
        self.node(key).map(|node| Section::new(self.text, format!("[{key}]"), node)).transpose()
    }

    /// The section as any type that can be deserialized.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, ConfigError> {
        self.text.read(&Spanned::new(self.at.clone(), DeValue::Table(self.table.clone())))
    }
}

/// A value in TOML, cut where it is long.
pub(super) fn written(value: &Value) -> String {
    const LONGEST: usize = 80;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
