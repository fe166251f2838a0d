//! Which array of several is meant: the one that the user names, the one of a known name, or the
//! only one with rows. Lists that could be ids are used or refused, never passed over.

use dissensus_core::{IdCandidate, IdChoice, choose_ids, is_id_name};
use dissensus_io::ReadOption;

use crate::error::{InputError, listed};
use crate::formats::array::Numbers;
use crate::options::ReadOptions;

/// Names that inputs go by.
pub(super) const KNOWN: [&str; 8] =
    ["images", "pixels", "x", "X", "data", "features", "embeddings", "embedding"];

/// A list of texts or whole numbers that may be ids.
pub(super) struct List {
    pub(super) name: String,
    pub(super) values: Vec<String>,
    pub(super) texts: bool,
}

/// A list that may be ids: the array that the user names must be one, and so must one with a name of
/// ids.
pub(super) fn list(
    file: &str,
    name: &str,
    array: Result<Numbers<'_>, InputError>,
    options: &ReadOptions,
) -> Result<Option<List>, InputError> {
    let must = match &options.id {
        Some(id) => id == name,
        None => is_id_name(name),
    };
    let array = match array {
        Ok(array) => array,
        Err(error) if must => return Err(error),
        Err(_) => return Ok(None),
    };
    if !must && (options.id.is_some() || !array.is_list()) {
        return Ok(None);
    }
    let (values, texts) = (array.ids(file)?, array.is_text());
    Ok(Some(List { name: name.to_owned(), values, texts }))
}

/// The ids of `rows` rows among these lists, and a note where their name does not say so.
pub(super) fn ids(
    file: &str,
    names: &[String],
    lists: Vec<List>,
    rows: usize,
    options: &ReadOptions,
) -> Result<(Option<Vec<String>>, Option<String>), InputError> {
    if options.by_position {
        return Ok((None, None));
    }
    if let Some(id) = &options.id {
        let named = lists.into_iter().find(|list| list.name == *id);
        let unknown = || InputError::NoSuchColumn {
            file: file.to_owned(),
            option: ReadOption::Id,
            name: id.clone(),
            columns: listed(names),
        };
        return Ok((Some(named.ok_or_else(unknown)?.values), None));
    }
    let mut candidates = Vec::new();
    for List { name, values, texts } in &lists {
        candidates.push(IdCandidate { name, values, texts: *texts });
    }
    let values = |at: usize| Some(lists[at].values.clone());
    match choose_ids(&candidates, rows) {
        IdChoice::None => Ok((None, None)),
        IdChoice::Known(at) => Ok((values(at), None)),
        IdChoice::Assumed(at) => {
            Ok((values(at), Some(format!("ids are taken from {:?}", lists[at].name))))
        }
        IdChoice::Unclear(places) => {
            let names: Vec<&str> = places.iter().map(|&at| lists[at].name.as_str()).collect();
            Err(InputError::UnclearIds { file: file.to_owned(), found: listed(&names) })
        }
    }
}

/// Chooses among the names of arrays. `axes` says how many axes an array has, where it is one.
pub(super) fn choose(
    file: &str,
    names: &[String],
    key: Option<&str>,
    mut axes: impl FnMut(&str) -> Result<Option<usize>, InputError>,
) -> Result<String, InputError> {
    let none = |wanted: String| {
        Err(InputError::NoArray { file: file.to_owned(), wanted, found: listed(names) })
    };
    if let Some(key) = key {
        return match names.iter().find(|name| *name == key) {
            Some(name) => Ok(name.clone()),
            None => none(format!("an array {key:?}")),
        };
    }
    let mut found: Vec<&String> =
        names.iter().filter(|name| KNOWN.contains(&name.as_str())).collect();
    if found.is_empty() {
        for name in names.iter().filter(|name| !is_id_name(name)) {
            if axes(name)?.is_some_and(|axes| axes >= 2) {
                found.push(name);
            }
        }
    }
    match &found[..] {
        [] => none(format!("an array {}, or one with items × values", KNOWN.join(", "))),
        [only] => Ok((*only).clone()),
        _ => Err(InputError::SeveralArrays { file: file.to_owned(), found: listed(&found) }),
    }
}
