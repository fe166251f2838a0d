//! Inputs matched with votes: by id where there are ids, by position only where there are none.

use dissensus_core::{Joined, MatchError, VoteTable, match_ids};

use crate::error::InputError;
use crate::inputs::Inputs;

/// Matches inputs with votes. Ids decide where there are ids; positions only where there are none
/// and both are equally many. That nothing matches is an error.
pub fn join(table: &VoteTable, inputs: &Inputs) -> Result<Joined, InputError> {
    let name = || inputs.name().to_owned();
    match_ids(table.items(), inputs.len(), inputs.ids().map(|ids| ids.iter())).map_err(|error| {
        match error {
            MatchError::Rows { found, expected } => {
                InputError::Rows { name: name(), found, expected }
            }
            MatchError::NoneShared { first, theirs } => {
                InputError::NoneShared { name: name(), first, theirs }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ReadOptions, read_bytes};
    use dissensus_core::{Matched, Missing};

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
        assert_eq!(found.without_row, Missing { count: 1, first: vec!["b".to_owned()] });
        assert_eq!(found.without_item, Missing { count: 1, first: vec!["z".to_owned()] });
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
