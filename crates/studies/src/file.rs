//! The sections that only studies have. The sections of runs (`[data]`, `[training]`...) are those of
//! a training spec.

mod arm;
mod grid;
mod keys;
mod parts;

use dissensus_train::{ConfigError, Place};
use serde::de::DeserializeOwned;

pub use arm::{Arm, VotesChoice};
pub use dissensus_train::spec::Setting;
pub(crate) use dissensus_train::spec::{Entry, Section, Text, settings};
pub use grid::{Axis, Grid};
pub use keys::STUDY_KEYS;
pub use parts::{DatasetChoice, Scale, SliceRule};

/// The keys of a section.
pub(crate) fn names(section: &str) -> Vec<&'static str> {
    STUDY_KEYS.iter().filter(|key| key.section == section).map(|key| key.name).collect()
}

/// What a key accepts, in words.
pub(crate) fn expected(of: &str, name: &str) -> &'static str {
    let key = STUDY_KEYS.iter().find(|key| key.section == of && key.name == name);
    key.map_or("a key of the list", |key| key.expected)
}

/// A section with the name that it has in the list of keys.
pub(crate) struct Part<'p> {
    pub(crate) section: &'p Section<'p>,
    of: &'static str,
}

impl<'p> Part<'p> {
    /// The section, which has no other keys than those of the list.
    pub(crate) fn new(section: &'p Section<'p>, of: &'static str) -> Result<Self, ConfigError> {
        section.known(&names(of))?;
        Ok(Self { section, of })
    }

    /// The value of a key; `None` without it.
    pub(crate) fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, ConfigError> {
        self.section.get(key, expected(self.of, key))
    }

    /// The value of a key, where it passes.
    pub(crate) fn checked<T: DeserializeOwned, U>(
        &self,
        key: &str,
        check: impl FnOnce(T) -> Option<U>,
    ) -> Result<Option<U>, ConfigError> {
        self.section.checked(key, expected(self.of, key), check)
    }

    /// The required key `name`, where it passes.
    pub(crate) fn name(&self, passes: fn(&str) -> bool) -> Result<String, ConfigError> {
        let expected = expected(self.of, "name");
        let name: String = self.section.need("name", expected)?;
        if passes(&name) { Ok(name) } else { Err(self.section.unexpected("name", expected)) }
    }

    /// The key `title`, or the name.
    pub(crate) fn title(&self, name: &str) -> Result<String, ConfigError> {
        let title = self.section.words("title")?;
        Ok(if title.is_empty() { name.to_owned() } else { title })
    }

    /// The key `seeds`.
    pub(crate) fn seeds(&self) -> Result<Option<Vec<u64>>, ConfigError> {
        self.checked("seeds", |value: toml::Value| dissensus_train::spec::seeds(&value))
    }

    /// The keys of runs that `set` changes.
    pub(crate) fn set(&self, layer: Layer) -> Result<Vec<Setting>, ConfigError> {
        let section = self.section;
        let Some(node) = section.node("set") else { return Ok(Vec::new()) };
        let set = settings(&Section::new(section.text, section.key("set"), node)?, "")?;
        set.iter().try_for_each(|one| refuse(layer, &one.path, &one.place))?;
        Ok(set)
    }
}

/// Whether this can be the name of an arm, a dataset or a slice.
pub(crate) fn is_name(name: &str) -> bool {
    let sign = |c: char| c.is_ascii_alphanumeric() || "-_.:=".contains(c);
    !name.is_empty() && name.chars().all(sign)
}

/// Whether this can be the name of a study, a table or a figure, which are names of files.
pub(crate) fn is_file_name(name: &str) -> bool {
    let sign = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    (1..=60).contains(&name.len()) && name.chars().all(sign) && !name.starts_with('-')
}

/// Which part of a study sets a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layer {
    /// A dataset.
    Dataset,
    /// An arm.
    Arm,
    /// All runs, over everything else: a scale, or an override.
    Study,
    /// An axis of the grid.
    Grid,
}

/// Refuses keys that a study has its own key for, and those that would have no effect there.
pub(crate) fn refuse(layer: Layer, path: &str, place: &Place) -> Result<(), ConfigError> {
    let section = path.split('.').next().unwrap_or_default();
    let own = path == "run.precision";
    let why = match (layer, path, section) {
        (_, "delivery.methods", _) => "has its own key in a study: an arm's `delivery`",
        (Layer::Arm | Layer::Study | Layer::Grid, "data.votes_per_item", _) => {
            "has its own key in a study: an arm's `votes`"
        }
        (_, "run.seeds", _) => "cannot be set here; use `seeds`",
        (Layer::Study, ..) => return Ok(()),
        (_, _, "run") if !own => "is the same for all runs: set it in [run]",
        (Layer::Grid, _, "data" | "split") => {
            "changes what is measured, so that the points of a grid cannot be compared; make it an \
             arm or a dataset"
        }
        _ => return Ok(()),
    };
    let (key, place) = (path.to_owned(), place.clone());
    Err(ConfigError::Conflict { key, place, why: why.to_owned() })
}
