//! A split that comes with the data: every item is in one part, by its id.

use std::collections::BTreeMap;

use dissensus_core::Ids;
use serde_json::Value;

use super::SplitError;

/// The names of parts, and other names for them.
const NAMES: [(&str, &[&str]); 3] = [
    ("train", &["train", "training"]),
    ("validation", &["validation", "valid", "val", "dev"]),
    ("test", &["test", "evaluation"]),
];

/// The names of parts with the places of their items, training first.
pub type PartPlaces = Vec<(String, Vec<usize>)>;

/// The part of every item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenParts(BTreeMap<String, &'static str>);

impl GivenParts {
    /// Pairs of an item's id and the name of its part: `train`, `validation` (or `dev`) and `test`.
    /// Every item of the votes must be in one part, and there are no others.
    pub fn new(pairs: &[(String, String)], items: &Ids) -> Result<Self, SplitError> {
        let mut parts = BTreeMap::new();
        for (id, part) in pairs {
            let lower = part.trim().to_lowercase();
            let known = NAMES.iter().find(|(_, names)| names.contains(&lower.as_str()));
            let Some((name, _)) = known else {
                return Err(SplitError::UnknownPart { id: id.clone(), part: part.clone() });
            };
            if items.position(id).is_none() {
                return Err(SplitError::UnknownItem { id: id.clone(), part: (*name).to_owned() });
            }
            match parts.insert(id.clone(), *name) {
                Some(other) if other != *name => {
                    let parts = [other, *name].map(str::to_owned);
                    return Err(SplitError::TwoParts { id: id.clone(), parts });
                }
                _ => {}
            }
        }
        match items.iter().find(|id| !parts.contains_key(*id)) {
            Some(id) => Err(SplitError::NoPart { id: id.to_owned() }),
            None => Ok(Self(parts)),
        }
    }

    /// The places of these items by part, in the order of the parts, and their digest.
    pub(crate) fn places(&self, items: &Ids) -> Result<(PartPlaces, String), SplitError> {
        let mut parts = PartPlaces::new();
        for (name, _) in NAMES.iter().filter(|(name, _)| self.0.values().any(|one| one == name)) {
            let is_in = |at: &usize| self.0.get(items.name(*at)) == Some(name);
            let places: Vec<usize> = (0..items.len()).filter(is_in).collect();
            if places.is_empty() {
                return Err(SplitError::EmptyPart { part: (*name).to_owned() });
            }
            parts.push(((*name).to_owned(), places));
        }
        let here = items.iter().filter_map(|id| Some((id.to_owned(), (*self.0.get(id)?).into())));
        let digest = dissensus_store::digest(&Value::Object(here.collect()));
        Ok((parts, digest))
    }
}
