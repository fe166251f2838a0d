//! Rows of anything (inputs, predictions) matched with the items of a vote table: by id where there
//! are ids on both sides; by position only where neither side has ids, or where the user says so.

use std::collections::HashMap;
use std::fmt;

use serde::Serialize;
use thiserror::Error;
use unicode_normalization::UnicodeNormalization as _;

use crate::Ids;

/// How items were matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Matched {
    /// By their ids.
    ById,
    /// By their positions: neither side has ids, or the user said so.
    ByPosition,
}

/// Ids without a partner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// How many.
    pub count: usize,
    /// The ids of the first few.
    pub first: Vec<String>,
}

impl Missing {
    /// How many ids are kept to be printed.
    pub const FIRST: usize = 5;

    fn add(&mut self, id: &str) {
        self.count += 1;
        if self.first.len() < Self::FIRST {
            self.first.push(id.to_owned());
        }
    }
}

/// Items and the rows that belong to them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Joined {
    /// How they were matched.
    pub matched: Matched,
    /// (item, row), in the order of the items.
    pub items: Vec<(usize, usize)>,
    /// Items without a row.
    pub without_row: Missing,
    /// Rows whose id is not among the items.
    pub without_item: Missing,
    /// Items without a row, and rows without an item, whose ids are the same but for case, spaces or
    /// Unicode form.
    pub alike: Alike,
}

impl Joined {
    /// What a person should know of what was left out, of so many items and of rows that are `what`.
    pub fn warnings(&self, items: usize, what: &str) -> Vec<String> {
        let (mut warnings, missing) = (Vec::new(), &self.without_row);
        if self.alike.count > 0 {
            warnings.push(format!(
                "{} ids of {what}s differ from those of the votes only in case, spaces or Unicode form, and are \
                 not matched: {}",
                self.alike.count, self.alike
            ));
        }
        if missing.count > 0 {
            let (count, first) = (missing.count, missing.first.join(", "));
            warnings.push(format!(
                "{count} of {items} items with votes have no {what} ({first}, …): they are left out"
            ));
        }
        warnings
    }
}

/// Ids without a partner that are nearly the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Alike {
    /// How many.
    pub count: usize,
    /// The first few: the item, and the id of a row.
    pub first: Vec<(String, String)>,
}

impl Alike {
    fn of<'a>(items: impl Iterator<Item = &'a str>, ids: impl Iterator<Item = &'a str>) -> Self {
        let items: HashMap<String, &str> = items.map(|item| (folded(item), item)).collect();
        let mut alike = Self::default();
        for id in ids.take(if items.is_empty() { 0 } else { usize::MAX }) {
            if let Some(item) = items.get(&folded(id)) {
                alike.count += 1;
                if alike.first.len() < Missing::FIRST {
                    alike.first.push(((*item).to_owned(), id.to_owned()));
                }
            }
        }
        alike
    }
}

/// What is left of the differences that people do not see; empty where there are none.
impl fmt::Display for Alike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs = self.first.iter().map(|(item, id)| format!("{item:?} and {id:?}"));
        let more = if self.count > self.first.len() { ", …" } else { "" };
        write!(f, "{}{more}", pairs.collect::<Vec<_>>().join(", "))
    }
}

/// A text without what people do not see: case, spaces, and the form of its characters in Unicode.
pub fn folded(text: &str) -> String {
    if text.is_ascii() {
        let seen = text.chars().filter(|c| !c.is_whitespace());
        return seen.map(|c| c.to_ascii_lowercase()).collect();
    }
    let plain = |c: &char| !c.is_whitespace() && !matches!(c, '\u{200b}'..='\u{200d}' | '\u{feff}');
    text.nfkc().filter(plain).flat_map(char::to_lowercase).collect()
}

/// Why rows do not fit the items. Whoever asks adds what the rows are.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum MatchError {
    /// Matched by position, and another number of rows.
    #[error("it has {found} rows without ids, the votes have {expected} items")]
    Rows {
        /// How many rows there are.
        found: usize,
        /// How many items there are.
        expected: usize,
    },
    /// The items have ids, the rows have none, and nobody said that positions decide.
    #[error(
        "its {found} rows have no ids, and the {expected} items of the votes have (the first is \
         {theirs:?})"
    )]
    NoIds {
        /// How many rows there are.
        found: usize,
        /// How many items there are.
        expected: usize,
        /// The first item.
        theirs: String,
    },
    /// Ids, but none of the items'.
    #[error("no id is among the votes (its first is {first:?}, theirs {theirs:?})")]
    NoneShared {
        /// The first id of the rows.
        first: String,
        /// The first item.
        theirs: String,
    },
    /// Equally many rows and items, one side numbered in sequence, and only some numbers in common:
    /// counted from 0 and from 1, for example.
    #[error(
        "only {shared} of the {of} ids are among the votes, and one of the two only numbers its rows (its \
         first id is {first:?}, theirs {theirs:?})"
    )]
    RowNumbers {
        /// Ids that both have.
        shared: usize,
        /// Ids there are.
        of: usize,
        /// The first id of the rows.
        first: String,
        /// The first item.
        theirs: String,
    },
}

/// Matches `rows` rows with items. `ids` are those of the rows, each at most once. Without ids, rows
/// are matched by position if the items are only numbered from 0, as items without ids are, or if
/// `by_position` says so; there must be as many rows as items then. That nothing matches is an
/// error.
///
/// ```
/// use dissensus_core::{Ids, match_ids};
///
/// let items = Ids::new(["a", "b", "c"]).unwrap();
/// let found = match_ids(&items, 2, Some(["c", "z"].into_iter()), false)?;
/// assert_eq!(found.items, [(2, 0)]);
/// assert_eq!((found.without_row.count, found.without_item.first), (2, vec!["z".to_owned()]));
/// # Ok::<(), dissensus_core::MatchError>(())
/// ```
pub fn match_ids<'i, I>(
    items: &Ids,
    rows: usize,
    ids: Option<I>,
    by_position: bool,
) -> Result<Joined, MatchError>
where
    I: Iterator<Item = &'i str> + Clone,
{
    let (mut without_row, mut without_item) = (Missing::default(), Missing::default());
    let expected = items.len();
    let theirs = || items.iter().next().unwrap_or_default().to_owned();
    let Some(ids) = ids.filter(|_| !by_position) else {
        if !by_position && first_number(items.iter()) != Some(0) {
            return Err(MatchError::NoIds { found: rows, expected, theirs: theirs() });
        }
        if rows != expected {
            return Err(MatchError::Rows { found: rows, expected });
        }
        let items = (0..rows).map(|row| (row, row)).collect();
        let (matched, alike) = (Matched::ByPosition, Alike::default());
        return Ok(Joined { matched, items, without_row, without_item, alike });
    };
    let first = || ids.clone().next().unwrap_or_default().to_owned();
    let mut places: Vec<Option<usize>> = vec![None; expected];
    let mut strangers = Vec::new();
    for (row, id) in ids.clone().enumerate() {
        match items.position_near(id, row).and_then(|item| places.get_mut(item)) {
            Some(place) => *place = Some(row),
            None => {
                without_item.add(id);
                strangers.push(id);
            }
        }
    }
    let mut pairs = Vec::with_capacity(expected);
    let alone = (0..expected).filter(|&item| places[item].is_none()).map(|item| items.name(item));
    let alike = match strangers.is_empty() {
        true => Alike::default(),
        false => Alike::of(alone, strangers.into_iter()),
    };
    for (item, row) in places.into_iter().enumerate() {
        match row {
            Some(row) => pairs.push((item, row)),
            None => without_row.add(items.name(item)),
        }
    }
    if pairs.is_empty() {
        return Err(MatchError::NoneShared { first: first(), theirs: theirs() });
    }
    let numbered = || first_number(ids.clone()).is_some() || first_number(items.iter()).is_some();
    if rows == expected && pairs.len() < rows && numbered() {
        let shared = pairs.len();
        let (first, theirs) = (first(), theirs());
        return Err(MatchError::RowNumbers { shared, of: rows, first, theirs });
    }
    Ok(Joined { matched: Matched::ById, items: pairs, without_row, without_item, alike })
}

/// The first of ids that are whole numbers in sequence; `None` for any other ids.
fn first_number<'i>(mut ids: impl Iterator<Item = &'i str>) -> Option<u64> {
    let first: u64 = ids.next().filter(|id| is_plain_number(id))?.parse().ok()?;
    let follows = |(at, id): (u64, &str)| is_plain_number(id) && id.parse() == Ok(first + at);
    (1..).zip(ids).all(follows).then_some(first)
}

/// Digits without a leading zero, as a program that counts rows writes them.
fn is_plain_number(id: &str) -> bool {
    let digits = !id.is_empty() && id.len() < 19 && id.bytes().all(|b| b.is_ascii_digit());
    digits && (id == "0" || !id.starts_with('0'))
}

/// Names of ids, the surest first; in the singular, and without case, `_`, `-`, space and point.
const ID_NAMES: [&str; 28] = [
    "id",
    "uid",
    "uuid",
    "guid",
    "item",
    "itemid",
    "task",
    "taskid",
    "example",
    "exampleid",
    "instance",
    "instanceid",
    "sample",
    "sampleid",
    "image",
    "imageid",
    "textid",
    "questionid",
    "documentid",
    "docid",
    "sentenceid",
    "name",
    "itemname",
    "imagename",
    "filename",
    "key",
    "index",
    "idx",
];

/// How surely a column or array of this name holds the ids of items, 0 the surest; `None` for a name
/// that does not say so. Plurals count, and so does any name that ends in a word `id`.
///
/// ```
/// use dissensus_core::id_name_rank;
///
/// assert!(id_name_rank("uids") < id_name_rank("file_name"));
/// assert!(id_name_rank("QuestionID").is_some() && id_name_rank("pair_id").is_some());
/// assert!(id_name_rank("cat").is_none() && id_name_rank("valid").is_none());
/// ```
pub fn id_name_rank(name: &str) -> Option<usize> {
    let kept = name.chars().filter(|c| !matches!(c, '_' | '-' | ' ' | '.'));
    let plain: String = kept.flat_map(char::to_lowercase).collect();
    let singular = match plain.as_str() {
        "indices" | "indexes" => "index",
        other => other.strip_suffix('s').unwrap_or(other),
    };
    let known = ID_NAMES.iter().position(|known| *known == plain || *known == singular);
    known.or_else(|| ends_in_id(name).then_some(ID_NAMES.len()))
}

/// Whether a column or array of this name holds ids whatever is in it: `id`, `uid`, `item` and their
/// like.
pub fn is_id_name(name: &str) -> bool {
    const SURE: usize = 5;
    id_name_rank(name).is_some_and(|rank| rank < SURE)
}

/// Whether the last word of a name is `id` or `ids`: `pair_id`, `pairId`, `pair IDs`.
fn ends_in_id(name: &str) -> bool {
    let name = name.strip_suffix(['s', 'S']).unwrap_or(name);
    let Some((before, end)) = name.len().checked_sub(2).and_then(|at| name.split_at_checked(at))
    else {
        return false;
    };
    let separated = before.ends_with(['_', '-', ' ', '.']);
    match end {
        "id" => separated,
        "Id" | "ID" => separated || before.ends_with(|c: char| c.is_ascii_lowercase()),
        _ => false,
    }
}

/// A named list of a file that may hold the ids of its rows.
pub struct IdCandidate<'a> {
    /// The name of the column or array.
    pub name: &'a str,
    /// Its values; those of the first rows are enough.
    pub values: &'a [String],
    /// Whether they are texts; else they are whole numbers.
    pub texts: bool,
}

/// Which list holds the ids; places among the candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdChoice {
    /// None.
    None,
    /// The one whose name says so.
    Known(usize),
    /// The only one that has a different text for each row.
    Assumed(usize),
    /// These look like ids, and nothing says which one is meant, or whether it is.
    Unclear(Vec<usize>),
}

/// Chooses the list that holds the ids of `rows` rows. A list of another length is chosen only if
/// its name leaves no doubt, so that the caller can refuse it.
pub fn choose_ids(lists: &[IdCandidate<'_>], rows: usize) -> IdChoice {
    /// Names that lists of labels go by.
    const LABELS: [&str; 12] = [
        "label",
        "labels",
        "class",
        "classes",
        "target",
        "targets",
        "y",
        "gold",
        "pred",
        "preds",
        "prediction",
        "predictions",
    ];
    let rank = |at: &usize| {
        let list = &lists[*at];
        id_name_rank(list.name).filter(|_| is_id_name(list.name) || list.values.len() == rows)
    };
    let known = (0..lists.len()).filter(|at| rank(at).is_some()).min_by_key(rank);
    if let Some(known) = known {
        return IdChoice::Known(known);
    }
    let different = |values: &[String]| {
        let mut seen = std::collections::HashSet::new();
        values.iter().all(|value| !value.is_empty() && seen.insert(value))
    };
    let could_be = |at: &usize| {
        let IdCandidate { name, values, .. } = lists[*at];
        let label = LABELS.contains(&name.to_lowercase().as_str());
        !label && rows > 1 && values.len() == rows && different(values)
    };
    let found: Vec<usize> = (0..lists.len()).filter(could_be).collect();
    match found[..] {
        [] => IdChoice::None,
        [only] if lists[only].texts => IdChoice::Assumed(only),
        _ => IdChoice::Unclear(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched(
        items: &[&str],
        ids: Option<&[&str]>,
        by_position: bool,
    ) -> Result<Joined, MatchError> {
        let items = Ids::new(items).unwrap();
        match_ids(&items, 3, ids.map(|ids| ids.iter().copied()), by_position)
    }

    #[test]
    fn ids_that_look_the_same_are_listed() {
        let found =
            matched(&["a", "B 1", "café"], Some(&["a", "b1 ", "cafe\u{301}"]), false).unwrap();
        assert_eq!((found.items.len(), found.alike.count), (1, 2));
        assert_eq!(found.alike.to_string(), "\"B 1\" and \"b1 \", \"café\" and \"cafe\\u{301}\"");
        let other = matched(&["a", "b", "c"], Some(&["a", "x", "y"]), false).unwrap();
        assert_eq!(other.alike, Alike::default());
        // What has its partner is like nothing else.
        let both = matched(&["a", "A", "c"], Some(&["a", "A", "x"]), false).unwrap();
        assert_eq!(both.alike.count, 0);
    }

    #[test]
    fn positions_decide_only_without_ids_or_where_that_is_said() {
        let numbered = matched(&["0", "1", "2"], None, false).unwrap();
        assert_eq!(numbered.matched, Matched::ByPosition);
        let named = matched(&["a", "b", "c"], None, false).unwrap_err();
        assert_eq!(named, MatchError::NoIds { found: 3, expected: 3, theirs: "a".into() });
        for items in [["2", "0", "1"], ["1", "2", "3"], ["00", "01", "02"]] {
            assert!(matches!(matched(&items, None, false), Err(MatchError::NoIds { .. })));
            assert_eq!(matched(&items, None, true).unwrap().items, [(0, 0), (1, 1), (2, 2)]);
        }
        let said = matched(&["a", "b", "c"], Some(&["c", "b", "a"]), true).unwrap();
        assert_eq!((said.matched, said.items[0]), (Matched::ByPosition, (0, 0)));
        let short = matched(&["0", "1"], None, false).unwrap_err();
        assert_eq!(short, MatchError::Rows { found: 3, expected: 2 });
    }

    #[test]
    fn numbers_from_0_and_from_1_are_not_matched() {
        let error = matched(&["0", "1", "2"], Some(&["1", "2", "3"]), false).unwrap_err();
        let (first, theirs) = ("1".to_owned(), "0".to_owned());
        assert_eq!(error, MatchError::RowNumbers { shared: 2, of: 3, first, theirs });
        let rows_only = matched(&["17", "2", "40"], Some(&["0", "1", "2"]), false);
        assert!(matches!(rows_only, Err(MatchError::RowNumbers { shared: 1, .. })));
        // Ids of their own that are not in sequence, and a part of the numbers, are taken at their word.
        assert!(matched(&["17", "2", "40"], Some(&["9", "2", "40"]), false).is_ok());
        assert!(matched(&["0", "1", "2", "3"], Some(&["1", "2", "3"]), false).is_ok());
    }

    #[test]
    fn ids_are_chosen_by_name_or_as_the_only_texts_that_differ() {
        let texts = |list: &[&str]| list.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>();
        let (abc, same, short) = (texts(&["a", "b", "c"]), texts(&["x", "x", "y"]), texts(&["a"]));
        let choose = |lists: &[(&str, &[String], bool)]| {
            let list = |&(name, values, texts)| IdCandidate { name, values, texts };
            choose_ids(&lists.iter().map(list).collect::<Vec<_>>(), 3)
        };
        let known = choose(&[("stimuli", &abc, true), ("names", &abc, true), ("uid", &abc, true)]);
        assert_eq!(known, IdChoice::Known(2));
        assert_eq!(choose(&[("ids", &short, true)]), IdChoice::Known(0));
        assert_eq!(choose(&[("names", &short, true)]), IdChoice::None);
        let assumed = choose(&[("split", &same, true), ("stimuli", &abc, true)]);
        assert_eq!(assumed, IdChoice::Assumed(1));
        assert_eq!(choose(&[("order", &abc, false)]), IdChoice::Unclear(vec![0]));
        let both = choose(&[("u", &abc, true), ("v", &abc, true)]);
        assert_eq!(both, IdChoice::Unclear(vec![0, 1]));
        assert_eq!(choose(&[("labels", &abc, true), ("u", &same, true)]), IdChoice::None);
    }
}
