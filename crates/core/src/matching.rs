//! Rows of anything (inputs, predictions) matched with the items of a vote table: by id where there
//! are ids, by position only where there are none.

use serde::Serialize;
use thiserror::Error;

use crate::Ids;

/// How items were matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Matched {
    /// By their ids.
    ById,
    /// By their positions, because the rows have no ids.
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
}

/// Why rows do not fit the items. Whoever asks adds what the rows are.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum MatchError {
    /// No ids, and another number of rows.
    #[error("{found} rows without ids for {expected} items")]
    Rows {
        /// How many rows there are.
        found: usize,
        /// How many items there are.
        expected: usize,
    },
    /// Ids, but none of the items'.
    #[error("no id is among the items (the first is {first:?}, theirs {theirs:?})")]
    NoneShared {
        /// The first id of the rows.
        first: String,
        /// The first item.
        theirs: String,
    },
}

/// Matches `rows` rows with items. `ids` are those of the rows, each at most once; without ids,
/// there must be as many rows as items. That nothing matches is an error.
///
/// ```
/// use dissensus_core::{Ids, match_ids};
///
/// let items: Ids = ["a", "b", "c"].iter().collect();
/// let found = match_ids(&items, 2, Some(["c", "z"].into_iter()))?;
/// assert_eq!(found.items, [(2, 0)]);
/// assert_eq!((found.without_row.count, found.without_item.first), (2, vec!["z".to_owned()]));
/// # Ok::<(), dissensus_core::MatchError>(())
/// ```
pub fn match_ids<'i>(
    items: &Ids,
    rows: usize,
    ids: Option<impl Iterator<Item = &'i str>>,
) -> Result<Joined, MatchError> {
    let (mut without_row, mut without_item) = (Missing::default(), Missing::default());
    let expected = items.len();
    let Some(ids) = ids else {
        if rows != expected {
            return Err(MatchError::Rows { found: rows, expected });
        }
        let items = (0..rows).map(|row| (row, row)).collect();
        return Ok(Joined { matched: Matched::ByPosition, items, without_row, without_item });
    };
    let mut rows: Vec<Option<usize>> = vec![None; expected];
    let mut first = None;
    for (row, id) in ids.enumerate() {
        first = first.or(Some(id));
        match items.position(id).and_then(|item| rows.get_mut(item)) {
            Some(place) => *place = Some(row),
            None => without_item.add(id),
        }
    }
    let mut pairs = Vec::with_capacity(expected);
    for (item, row) in rows.into_iter().enumerate() {
        match row {
            Some(row) => pairs.push((item, row)),
            None => without_row.add(items.name(item)),
        }
    }
    if pairs.is_empty() {
        let first = first.unwrap_or_default().to_owned();
        let theirs = items.iter().next().unwrap_or_default().to_owned();
        return Err(MatchError::NoneShared { first, theirs });
    }
    Ok(Joined { matched: Matched::ById, items: pairs, without_row, without_item })
}
