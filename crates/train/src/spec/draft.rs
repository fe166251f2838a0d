//! A spec on its way: settings with their places, known by name, not yet checked together.
//!
//! [`Spec::parse`](crate::Spec::parse) makes one and checks it. A study keeps one, sets more keys on
//! copies of it for every arm, and checks each copy; errors still name the line of the study.

use toml::Value;
use toml::de::DeTable;

use super::collect::{self, Nodes};
use super::read::Reader;
use super::{Data, DeliveryChoice, Run, SelectionChoice, Spec, SplitChoice, Training, model};
use crate::{Place, SpecError};

/// Settings of a spec, before they are checked together.
#[derive(Clone, Debug)]
pub struct Draft {
    name: String,
    nodes: Nodes,
}

impl Draft {
    /// The settings of a text; `name` is what errors call it.
    pub fn parse(text: &str, name: &str) -> Result<Self, SpecError> {
        Ok(Self { name: name.to_owned(), nodes: collect::collect(text, name)? })
    }

    /// The settings of a table within a longer text.
    pub fn of_table(text: &str, name: &str, table: &DeTable<'_>) -> Result<Self, SpecError> {
        Ok(Self { name: name.to_owned(), nodes: collect::collect_table(text, name, table)? })
    }

    /// Sets a key, named with its section, to a value that was written at `place`.
    pub fn set(&mut self, path: &str, value: &Value, place: &Place) -> Result<(), SpecError> {
        collect::replace(&mut self.nodes, path, value, place)
    }

    /// Sets a key by an override, `section.key=value`.
    pub fn override_with(&mut self, given: &str) -> Result<(), SpecError> {
        collect::override_with(&mut self.nodes, given)
    }

    /// Where a key, named with its section, is set; `None` where it is not.
    pub fn place(&self, path: &str) -> Option<&Place> {
        let (section, key) = path.rsplit_once('.')?;
        Some(&self.nodes.get(&(section.to_owned(), key.to_owned()))?.place)
    }

    /// The spec, with every setting checked and the defaults of the others.
    pub fn check(&self) -> Result<Spec, SpecError> {
        let mut reader = Reader::new(&self.name, self.nodes.clone());
        let data = Data::read(&mut reader)?;
        let split = SplitChoice::read(&mut reader, data.judged_on.is_some())?;
        let model = model::read(&mut reader)?;
        let delivery = DeliveryChoice::read(&mut reader)?;
        let training = Training::read(&mut reader)?;
        let selection = SelectionChoice::read(&mut reader, &split.parts)?;
        let run = Run::read(&mut reader)?;
        reader.finish()?;
        Ok(Spec { data, split, model, delivery, training, selection, run })
    }
}
