//! The run settings of a file with their positions, before they are checked together.
//!
//! [`Spec::parse`](crate::Spec::parse) makes one and checks it. A study keeps one, sets more keys on
//! copies of it for each arm, and checks each copy; errors still name the line of the study.

use std::collections::BTreeMap;

use dissensus_labels::{Delivery, nearest};
use toml::Value;

use super::keys::{KEYS, SECTIONS, STUDY_SECTIONS, names, top};
use super::read::Reader;
use super::section::{Section, Text};
use super::setting::{Setting, settings};
use super::{
    Data, DeliveryChoice, Run, SelectionChoice, Spec, SplitChoice, Training, Votes, model, old,
};
use crate::{ConfigError, Place};

/// (section, key) → the value and its position.
pub(super) type Nodes = BTreeMap<(String, String), (Value, Place)>;

/// The settings of a run, before they are checked together.
#[derive(Clone, Debug)]
pub struct Draft {
    file: String,
    nodes: Nodes,
}

impl Draft {
    /// The settings of a training spec; `name` is its name in errors.
    pub fn parse(text: &str, name: &str) -> Result<Self, ConfigError> {
        let text = Text { name, text };
        let parsed = text.parse()?;
        let root = Section::root(text, &parsed);
        let draft = Self::of_file(&root)?;
        for (key, at, _) in root.entries() {
            if let Some((_, section)) = STUDY_SECTIONS.iter().find(|(name, _)| *name == key) {
                let (section, place) = ((*section).to_owned(), text.place(at));
                return Err(ConfigError::IsStudy { section, place });
            }
        }
        Ok(draft)
    }

    /// No settings: everything is as the defaults say. `name` is its name in errors.
    pub fn empty(name: &str) -> Self {
        Self { file: name.to_owned(), nodes: Nodes::new() }
    }

    /// The run sections of a file: all but those that only studies have.
    pub fn of_file(root: &Section<'_>) -> Result<Self, ConfigError> {
        let mut draft = Self::empty(root.text.name);
        for setting in settings(root, "")? {
            let Setting { path, value, place } = &setting;
            let is_run = SECTIONS.contains(&path.as_str());
            if STUDY_SECTIONS.iter().any(|(known, _)| known == path) {
                continue;
            }
            if (value.is_table() || value.is_array()) && !path.contains('.') && !is_run {
                return Err(unknown_section(path, place.clone()));
            }
            draft.set(&setting)?;
        }
        Ok(draft)
    }

    /// Sets a key. What was set before is replaced.
    pub fn set(&mut self, setting: &Setting) -> Result<(), ConfigError> {
        let Setting { path, value, place } = setting;
        let (section, name) = path.rsplit_once('.').unwrap_or(("", path));
        let is_key = |path: &str| KEYS.iter().any(|key| key.path() == path);
        let is_section = SECTIONS.contains(&path.as_str());
        let mut value = value.clone();
        if is_section && value.is_table() {
            value = Value::Boolean(true);
        } else if is_section && !is_key(path) {
            let (found, keys) = (value.type_str(), names(path).join(", "));
            return Err(ConfigError::not_a_table(path.clone(), found, &keys, place.clone()));
        }
        if is_key(path) {
            self.nodes.retain(|(section, _), _| section != path);
            self.put(section, name, value, place);
        } else if !is_section {
            return Err(unknown(path, place.clone()));
        }
        // Where a table can be disabled as a whole, a key in it enables it.
        if is_key(section)
            && let Some((outer, name)) = section.rsplit_once('.')
        {
            self.put(outer, name, Value::Boolean(true), place);
        }
        Ok(())
    }

    fn put(&mut self, section: &str, name: &str, value: Value, place: &Place) {
        self.nodes.insert((section.to_owned(), name.to_owned()), (value, place.clone()));
    }

    /// A key's value and its position; `None` where it is not set.
    pub fn get(&self, path: &str) -> Option<&(Value, Place)> {
        let (section, key) = path.rsplit_once('.')?;
        self.nodes.get(&(section.to_owned(), key.to_owned()))
    }

    /// The spec: each setting checked, and the defaults of the others.
    pub fn check(&self) -> Result<Spec, ConfigError> {
        self.read(Data::read, DeliveryChoice::read)
    }

    /// The spec of one method, whose data are given where it is trained: by a call, and not by name.
    pub(crate) fn check_without_data(&self, method: &Delivery) -> Result<Spec, ConfigError> {
        let data = |reader: &mut Reader<'_>| {
            Ok(Data { votes: Votes::read(reader)?, ..Data::of_dataset("", None, None) })
        };
        let method = vec![method.clone()];
        let mut spec = self.read(data, |reader| DeliveryChoice::of(method, reader))?;
        if !spec.stated.contains("run.seeds") {
            spec.run.seeds = vec![0];
        }
        Ok(spec)
    }

    fn read(
        &self,
        data: impl FnOnce(&mut Reader<'_>) -> Result<Data, ConfigError>,
        delivery: impl FnOnce(&mut Reader<'_>) -> Result<DeliveryChoice, ConfigError>,
    ) -> Result<Spec, ConfigError> {
        let mut reader = Reader::new(&self.file, self.nodes.clone());
        let data = data(&mut reader)?;
        let split = SplitChoice::read(&mut reader, &data)?;
        let model = model::read(&mut reader)?;
        let delivery = delivery(&mut reader)?;
        let training = Training::read(&mut reader)?;
        let selection = SelectionChoice::read(&mut reader, &split.parts)?;
        let run = Run::read(&mut reader)?;
        reader.finish()?;
        let stated = self.nodes.keys().map(|(section, key)| format!("{section}.{key}")).collect();
        Ok(Spec { data, split, model, delivery, training, selection, run, stated })
    }
}

/// That there is no such key in its section, or no such section.
fn unknown(path: &str, place: Place) -> ConfigError {
    let is_known = |section: &str| SECTIONS.contains(&section);
    let (mut section, mut name) = path.split_once('.').unwrap_or(("", path));
    if !section.is_empty() && !is_known(section) {
        return unknown_section(section, place);
    }
    while let Some((inner, rest)) = name.split_once('.') {
        let end = section.len() + 1 + inner.len();
        match path.get(..end).filter(|inner| is_known(inner)) {
            Some(inner) => (section, name) = (inner, rest),
            None => name = inner,
        }
    }
    let known = if section.is_empty() { top().collect() } else { names(section) };
    let title = if section.is_empty() { "the file".into() } else { format!("[{section}]") };
    let hint = old::hint(path).or_else(|| belongs(name)).unwrap_or_else(|| {
        let old = old::names(section);
        let near = nearest(name, known.iter().copied().chain(old.iter().map(|(old, _)| *old)));
        let near = old.iter().find(|(old, _)| *old == near).map_or(near, |(_, new)| *new);
        format!("did you mean `{near}`? {title} has {}", known.join(", "))
    });
    let known = known.iter().map(|&name| name.to_owned()).collect();
    ConfigError::UnknownKey { name: name.to_owned(), section: title, place, hint, known }
}

fn unknown_section(name: &str, place: Place) -> ConfigError {
    let sections = || top().chain(STUDY_SECTIONS.iter().map(|(name, _)| *name));
    let written = |name: &str| {
        let of_study = STUDY_SECTIONS.iter().find(|(known, _)| *known == name);
        of_study.map_or(format!("[{name}]"), |(_, written)| (*written).to_owned())
    };
    let hint = old::hint(name).unwrap_or_else(|| {
        let (near, known) = (written(nearest(name, sections())), sections().map(written));
        format!("did you mean {near}? There are {}", known.collect::<Vec<_>>().join(", "))
    });
    ConfigError::UnknownSection { name: name.to_owned(), place, hint }
}

/// The sections that have a key of this name.
fn belongs(name: &str) -> Option<String> {
    let sections: Vec<String> = SECTIONS
        .iter()
        .filter(|section| names(section).contains(&name))
        .map(|section| format!("[{section}]"))
        .collect();
    (!sections.is_empty()).then(|| format!("`{name}` belongs in {}", sections.join(" or ")))
}
