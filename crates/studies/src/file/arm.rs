//! `[[arm]]`: one of the things that a study compares.

use dissensus_report::tables::Votes;
use dissensus_train::{ConfigError, Place};
use serde::Deserialize;
use toml::Value;

use super::{Layer, Part, Section, Setting, is_name};

/// A number of votes of an arm, with its own seeds where it has any.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VotesChoice {
    /// Votes per item; `None` for all.
    pub k: Option<u32>,
    /// Its seeds; `None` for the arm's.
    pub seeds: Option<Vec<u64>>,
}

/// One of the things that are compared.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Arm {
    /// Its name in results.
    pub name: String,
    /// Its title in reports.
    pub title: String,
    /// How it differs from the others.
    pub about: String,
    /// How votes reach the loss, as in `sls:every=5`.
    pub delivery: String,
    /// Numbers of votes; `None` for `data.votes_per_item`.
    pub votes: Option<Vec<VotesChoice>>,
    /// The seeds; `None` for `run.seeds`.
    pub seeds: Option<Vec<u64>>,
    /// The keys of runs that it changes.
    pub set: Vec<Setting>,
    /// Only on these datasets; empty for all.
    pub datasets: Vec<String>,
    pub(crate) delivery_place: Place,
    pub(crate) votes_place: Place,
    pub(crate) datasets_place: Place,
}

impl Arm {
    pub(crate) fn read(section: &Section<'_>) -> Result<Self, ConfigError> {
        let part = Part::new(section, "arm")?;
        let name = part.name(is_name)?;
        Ok(Self {
            title: part.title(&name)?,
            about: section.words("about")?,
            delivery: section.need("delivery", super::expected("arm", "delivery"))?,
            votes: part.checked("votes", votes)?,
            seeds: part.seeds()?,
            set: part.set(Layer::Arm)?,
            datasets: part.get("datasets")?.unwrap_or_default(),
            delivery_place: section.place("delivery"),
            votes_place: section.place("votes"),
            datasets_place: section.place("datasets"),
            name,
        })
    }

    /// An arm that is nothing but a delivery method, and is named by it.
    pub(crate) fn of_method(method: &str, place: &Place) -> Self {
        Self {
            name: method.to_owned(),
            title: method.to_owned(),
            about: String::new(),
            delivery: method.to_owned(),
            votes: None,
            seeds: None,
            set: Vec::new(),
            datasets: Vec::new(),
            delivery_place: place.clone(),
            votes_place: place.clone(),
            datasets_place: place.clone(),
        }
    }
}

/// An entry of `votes`: a number, or numbers with their own seeds.
#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    One(Votes),
    Seeded(Seeded),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Seeded {
    k: Value,
    seeds: Value,
}

fn votes(entries: Vec<Entry>) -> Option<Vec<VotesChoice>> {
    let mut all: Vec<VotesChoice> = Vec::new();
    for entry in entries {
        let (ks, seeds): (Vec<Votes>, _) = match entry {
            Entry::One(one) => (vec![one], None),
            Entry::Seeded(Seeded { k, seeds }) => {
                let ks = if k.is_array() { k } else { Value::Array(vec![k]) };
                (ks.try_into().ok()?, Some(dissensus_train::spec::seeds(&seeds)?))
            }
        };
        for Votes(k) in ks {
            if k == Some(0) || all.iter().any(|choice| choice.k == k) {
                return None;
            }
            all.push(VotesChoice { k, seeds: seeds.clone() });
        }
    }
    (!all.is_empty()).then_some(all)
}
