//! Inputs matched with votes: by id where there are ids, by position only where there are none.

use dissensus_core::VoteTable;
use serde::Serialize;

use crate::error::InputError;
use crate::inputs::Inputs;

/// How items were matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Matched {
    /// By their ids.
    ById,
    /// By their positions, because the inputs have no ids.
    ByPosition,
}

/// Items without their other half.
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

/// Inputs of the items of a vote table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Joined {
    /// How.
    pub matched: Matched,
    /// (item of the vote table, row of the inputs), in the table's order.
    pub items: Vec<(usize, usize)>,
    /// Items of the table without an input.
    pub without_input: Missing,
    /// Inputs whose id is not in the table.
    pub without_votes: Missing,
}

/// Matches inputs with votes. Ids decide where there are ids; positions only where there are none
/// and both are equally many. That nothing matches is an error.
pub fn join(table: &VoteTable, inputs: &Inputs) -> Result<Joined, InputError> {
    let name = || inputs.name().to_owned();
    let (found, expected) = (inputs.len(), table.len());
    let (mut without_input, mut without_votes) = (Missing::default(), Missing::default());
    let Some(ids) = inputs.ids() else {
        if found != expected {
            return Err(InputError::Rows { name: name(), found, expected });
        }
        let items = (0..found).map(|row| (row, row)).collect();
        return Ok(Joined { matched: Matched::ByPosition, items, without_input, without_votes });
    };
    let mut rows: Vec<Option<usize>> = vec![None; expected];
    for (row, id) in ids.iter().enumerate() {
        match table.items().position(id).and_then(|item| rows.get_mut(item)) {
            Some(place) => *place = Some(row),
            None => without_votes.add(id),
        }
    }
    let mut items = Vec::with_capacity(expected);
    for (item, row) in rows.into_iter().enumerate() {
        match row {
            Some(row) => items.push((item, row)),
            None => without_input.add(table.items().name(item)),
        }
    }
    if items.is_empty() {
        let (first, theirs) = (ids.name(0).to_owned(), table.items().name(0).to_owned());
        return Err(InputError::NoneShared { name: name(), first, theirs });
    }
    Ok(Joined { matched: Matched::ById, items, without_input, without_votes })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use crate::{ReadOptions, read_bytes};

    fn joined(text: &str) -> Result<Joined, InputError> {
        let votes = "id,cat,dog\na,3,1\nb,0,4\nc,2,2\n";
        let options = dissensus_votes::ReadOptions::default();
        let table = dissensus_votes::read_bytes("v", votes.into(), &options).unwrap().table;
        join(&table, &read_bytes("f.csv", text.into(), &ReadOptions::default()).unwrap())
    }

    #[test]
    fn ids_decide_not_positions() {
        let found = joined("id,u,v\nc,1,2\nz,3,4\na,5,6\n").unwrap();
        assert_eq!((found.matched, &found.items[..]), (Matched::ById, &[(0, 2), (2, 0)][..]));
        assert_eq!(found.without_input, Missing { count: 1, first: vec!["b".to_owned()] });
        assert_eq!(found.without_votes, Missing { count: 1, first: vec!["z".to_owned()] });
    }

    #[test]
    fn positions_only_without_ids_and_of_one_length() {
        let found = joined("u,v\n1,2\n3,4\n5,6\n").unwrap();
        assert_eq!(found.matched, Matched::ByPosition);
        assert_eq!(found.items, [(0, 0), (1, 1), (2, 2)]);
        let short = joined("u,v\n1,2\n3,4\n").unwrap_err().to_string();
        let wanted = "f.csv has 2 inputs without ids, the votes have 3 items";
        assert!(short.starts_with(wanted), "{short}");
        let nobody = joined("id,u\nx,1\ny,2\n").unwrap_err().to_string();
        let wanted = "no id of f.csv is among the votes (its first is \"x\", theirs \"a\")";
        assert!(nobody.starts_with(wanted), "{nobody}");
    }
}
