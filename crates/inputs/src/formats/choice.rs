//! Which array of several is meant: the one that the user names, the one of a known name, or the
//! only one with rows.

use crate::error::{InputError, listed};

/// Names that inputs go by.
pub(super) const KNOWN: [&str; 8] =
    ["images", "pixels", "x", "X", "data", "features", "embeddings", "embedding"];

/// Names that ids go by.
pub(super) const IDS: [&str; 5] = ["ids", "id", "items", "item", "uids"];

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
        for name in names.iter().filter(|name| !IDS.contains(&name.as_str())) {
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
