//! Inputs matched with votes: by id; by position where neither side has ids, or where the user says
//! so.

use dissensus_core::{Joined, VoteTable, match_ids};

use crate::error::InputError;
use crate::inputs::Inputs;

/// Matches inputs with votes. Ids decide; positions only where neither the inputs nor the votes have
/// ids or where the inputs are said to be [by position](Inputs::by_position), and both are equally
/// many. That nothing matches is an error.
pub fn join(table: &VoteTable, inputs: &Inputs) -> Result<Joined, InputError> {
    let ids = inputs.ids().map(|ids| ids.iter());
    match_ids(table.items(), inputs.len(), ids, inputs.is_by_position())
        .map_err(|source| InputError::Match { name: inputs.name().to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ReadOptions, read_bytes};
    use dissensus_core::{Matched, Missing};

    fn votes() -> VoteTable {
        let votes = "id,cat,dog\na,3,1\nb,0,4\nc,2,2\n";
        let options = dissensus_votes::ReadOptions::default();
        dissensus_votes::read_bytes("v", votes.into(), &options).unwrap().table
    }

    fn joined(text: &str) -> Result<Joined, InputError> {
        join(&votes(), &read_bytes("f.csv", text.into(), &ReadOptions::default()).unwrap())
    }

    #[test]
    fn ids_decide_not_positions() {
        let found = joined("id,u,v\nc,1,2\nz,3,4\na,5,6\n").unwrap();
        assert_eq!((found.matched, &found.items[..]), (Matched::ById, &[(0, 2), (2, 0)][..]));
        assert_eq!(found.without_row, Missing { count: 1, first: vec!["b".to_owned()] });
        assert_eq!(found.without_item, Missing { count: 1, first: vec!["z".to_owned()] });
    }

    #[test]
    fn positions_only_where_that_is_said() {
        let bare = "u,v\n1,2\n3,4\n5,6\n";
        let error = joined(bare).unwrap_err().to_string();
        let wanted =
            "f.csv: its 3 rows have no ids, and the 3 items of the votes have (the first is \"a\")";
        assert!(error.starts_with(wanted), "{error}");
        let said = |text: &str| {
            let options = ReadOptions { by_position: true, ..ReadOptions::default() };
            join(&votes(), &read_bytes("f.csv", text.into(), &options).unwrap())
        };
        for text in [bare, "id,u,v\nx,1,2\ny,3,4\nz,5,6\n"] {
            let found = said(text).unwrap();
            assert_eq!(found.matched, Matched::ByPosition);
            assert_eq!(found.items, [(0, 0), (1, 1), (2, 2)]);
        }
        let short = said("u,v\n1,2\n3,4\n").unwrap_err().to_string();
        let wanted = "f.csv: it has 2 rows without ids, the votes have 3 items";
        assert!(short.starts_with(wanted), "{short}");
        let nobody = joined("id,u\nx,1\ny,2\n").unwrap_err().to_string();
        let wanted = "f.csv: no id is among the votes (its first is \"x\", theirs \"a\")";
        assert!(nobody.starts_with(wanted), "{nobody}");
    }
}
