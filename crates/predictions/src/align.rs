//! Predictions matched with votes: by id where there are ids, by position only where there are
//! none; classes by name where there are names.

use dissensus_core::{MatchError, Matched, VoteTable, match_ids};
use dissensus_io::ReadOption;
use thiserror::Error;

use crate::read::Predictions;

/// Predictions for items of a vote table.
#[derive(Clone, Debug)]
pub struct Aligned {
    /// How.
    pub matched: Matched,
    /// The items of the vote table that have predictions, in its order.
    pub items: Vec<usize>,
    /// Their predictions, row after row, classes in the table's order.
    pub values: Vec<f64>,
    /// Items of the table without a prediction.
    pub without_prediction: usize,
    /// Predictions whose id is not in the table.
    pub without_votes: usize,
}

/// Why predictions do not fit votes.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum AlignError {
    /// Different numbers of classes.
    #[error("{name} predicts {found} classes, the votes have {expected}")]
    Width {
        /// The model.
        name: String,
        /// Classes predicted.
        found: usize,
        /// Classes voted on.
        expected: usize,
    },
    /// Different class names.
    #[error("{name} does not predict the class {missing:?}; it predicts {known}")]
    Classes {
        /// The model.
        name: String,
        /// A class of the votes.
        missing: String,
        /// The classes predicted.
        known: String,
    },
    /// No ids, and another number of rows.
    #[error("{name} has {found} predictions without ids, the votes have {expected} items")]
    Rows {
        /// The model.
        name: String,
        /// Rows of predictions.
        found: usize,
        /// Items.
        expected: usize,
    },
    /// Ids, but none of the table's.
    #[error("no id of {name} is among the votes (its first is {first:?}, theirs {theirs:?})")]
    NoneShared {
        /// The model.
        name: String,
        /// Its first id.
        first: String,
        /// The table's first.
        theirs: String,
    },
}

impl AlignError {
    /// What the user can do. Options of reading are written as `` `classes` ``;
    /// [`options`](Self::options) lists them.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Width { .. } | Self::Classes { .. } => {
                "give the classes of the votes in the model's order with `classes`"
            }
            Self::Rows { .. } => "give the predictions ids: a column `id`, or `items` in an .npz",
            Self::NoneShared { .. } => "name the id column of the predictions with `id`",
        }
    }

    /// The options that the remedy names.
    pub fn options(&self) -> &'static [ReadOption] {
        match self {
            Self::Width { .. } | Self::Classes { .. } => &[ReadOption::Classes],
            Self::Rows { .. } => &[],
            Self::NoneShared { .. } => &[ReadOption::Id],
        }
    }
}

/// Matches predictions with votes.
pub fn align(table: &VoteTable, predictions: &Predictions) -> Result<Aligned, AlignError> {
    let name = || predictions.name.clone();
    let order = class_order(table, predictions)?;
    let ids = predictions.ids.as_ref().map(|ids| ids.iter().map(String::as_str));
    let joined = match_ids(table.items(), predictions.len(), ids).map_err(|error| match error {
        MatchError::Rows { found, expected } => AlignError::Rows { name: name(), found, expected },
        MatchError::NoneShared { first, theirs } => {
            AlignError::NoneShared { name: name(), first, theirs }
        }
    })?;
    let mut values = Vec::with_capacity(joined.items.len() * predictions.width);
    for &(_, row) in &joined.items {
        let row = &predictions.values[row * predictions.width..(row + 1) * predictions.width];
        values.extend(order.iter().map(|&class| row[class]));
    }
    Ok(Aligned {
        matched: joined.matched,
        items: joined.items.iter().map(|&(item, _)| item).collect(),
        values,
        without_prediction: joined.without_row.count,
        without_votes: joined.without_item.count,
    })
}

/// For each class of the votes, its column among the predictions.
fn class_order(table: &VoteTable, predictions: &Predictions) -> Result<Vec<usize>, AlignError> {
    let (found, expected) = (predictions.width, table.classes().len());
    if found != expected {
        return Err(AlignError::Width { name: predictions.name.clone(), found, expected });
    }
    let Some(names) = &predictions.classes else {
        return Ok((0..expected).collect());
    };
    // Headers such as c0, p_1 or class_2 number the columns without naming the classes.
    let shared = table.classes().names().iter().any(|class| names.contains(class));
    if !shared {
        return Ok((0..expected).collect());
    }
    let place = |class: &String| {
        names.iter().position(|name| name == class).ok_or_else(|| AlignError::Classes {
            name: predictions.name.clone(),
            missing: class.clone(),
            known: names.join(", "),
        })
    };
    table.classes().names().iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ReadOptions, read_bytes};

    fn votes() -> VoteTable {
        let text = "id,cat,dog\na,3,1\nb,0,4\nc,2,2\n";
        let options = dissensus_votes::ReadOptions::default();
        dissensus_votes::read_bytes("v", text.into(), &options).unwrap().table
    }

    fn aligned(text: &str) -> Result<Aligned, AlignError> {
        let predictions = read_bytes("m.csv", text.into(), &ReadOptions::default()).unwrap();
        align(&votes(), &predictions[0])
    }

    #[test]
    fn ids_and_class_names_decide_not_positions() {
        let found = aligned("id,dog,cat\nc,0.9,0.1\na,0.2,0.8\nz,0.5,0.5\n").unwrap();
        assert_eq!((found.matched, &found.items[..]), (Matched::ById, &[0, 2][..]));
        assert_eq!(found.values, [0.8, 0.2, 0.1, 0.9]);
        assert_eq!((found.without_prediction, found.without_votes), (1, 1));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let wide = aligned("id,x,y,z\na,1,0,0\n").unwrap_err();
        assert_eq!(wide.to_string(), "m predicts 3 classes, the votes have 2");
        let other = aligned("id,cat,emu\na,1,0\n").unwrap_err();
        assert_eq!(other.to_string(), "m does not predict the class \"dog\"; it predicts cat, emu");
        let nobody = aligned("id,cat,dog\nx,1,0\n").unwrap_err();
        assert!(nobody.to_string().starts_with("no id of m is among the votes"), "{nobody}");
        let short = aligned("cat,dog\n1,0\n").unwrap_err();
        assert_eq!(short.to_string(), "m has 1 predictions without ids, the votes have 3 items");
    }
}
