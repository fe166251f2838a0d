//! What can go wrong, in words that name the items and say what would do.

use std::fmt;

use dissensus_core::{CountsError, DistributionError, Ids, ScaleError, TableError};
use thiserror::Error;

/// The first few of many items, and how many there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// The first few ids.
    pub first: Vec<String>,
    /// How many items there are in all.
    pub count: usize,
}

impl Named {
    /// How many ids are kept to be printed.
    pub const FIRST: usize = 5;

    /// The items at these places; `None` where there are none.
    pub(crate) fn of(items: &Ids, mut places: impl Iterator<Item = usize>) -> Option<Self> {
        let name = |place| items.name(place).to_owned();
        let first: Vec<String> = places.by_ref().take(Self::FIRST).map(name).collect();
        let count = first.len() + places.count();
        (count > 0).then_some(Self { first, count })
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, id) in self.first.iter().enumerate() {
            write!(f, "{}{id:?}", if at == 0 { "" } else { ", " })?;
        }
        match self.count.saturating_sub(self.first.len()) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// Why there are no labels.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum LabelError {
    /// A name that is not in the list.
    #[error("unknown {family} {name:?}; did you mean {nearest:?}? There are {known}")]
    UnknownName {
        /// `delivery` or `target`.
        family: &'static str,
        /// What was asked for.
        name: String,
        /// The known name nearest to it.
        nearest: &'static str,
        /// All of them, joined.
        known: String,
    },
    /// A setting that the method does not have.
    #[error("{of} has no setting {name:?}; {known}")]
    UnknownSetting {
        /// The method.
        of: &'static str,
        /// What was set.
        name: String,
        /// The settings it has, in words.
        known: String,
    },
    /// A value that a setting cannot take.
    #[error("{of}: {name} is {value:?}; expected {expected}")]
    BadSetting {
        /// The method.
        of: &'static str,
        /// The setting.
        name: &'static str,
        /// What it was set to.
        value: String,
        /// What would do.
        expected: &'static str,
    },
    /// Text that is not a name with settings.
    #[error("cannot read {text:?}; expected a name, or a name with settings as in {example:?}")]
    Syntax {
        /// The text.
        text: String,
        /// How it should look.
        example: &'static str,
    },
    /// Items that nobody voted on.
    #[error("{} without votes: {items}", plural(items.count, "item"))]
    NoVotes {
        /// Which.
        items: Named,
    },
    /// Items that cannot be told apart by their entropy.
    #[error("the entropies of all {items} items are the same, which makes no bins")]
    SameEntropy {
        /// How many items there are.
        items: usize,
    },
    /// A method that is not defined for the scale of the votes.
    #[error(transparent)]
    Scale(#[from] ScaleError),
    /// Drawn or estimated votes that do not make a table.
    #[error(transparent)]
    Table(#[from] TableError),
    /// More votes drawn than can be counted.
    #[error(transparent)]
    Counts(#[from] CountsError),
    /// An estimate that is not a distribution.
    #[error("the target of item {item:?} is not a distribution: {source}")]
    NotADistribution {
        /// The item.
        item: String,
        /// Why.
        source: DistributionError,
    },
    /// Probabilities where votes have to be counted.
    #[error("{what} needs vote counts, and only probabilities are known; use {instead}")]
    NeedsCounts {
        /// The method.
        what: &'static str,
        /// What would do.
        instead: &'static str,
    },
    /// Weighted votes where every vote has to count the same.
    #[error("{what} takes every vote as one, and these votes carry weights; use {instead}")]
    Weighted {
        /// The method.
        what: &'static str,
        /// What would do.
        instead: &'static str,
    },
    /// Ties, where they were to be an error.
    #[error(
        "{} with a tie for the most votes: {items}; set ties to lowest or random to decide them",
        plural(items.count, "item")
    )]
    Tie {
        /// Which.
        items: Named,
    },
    /// Fewer votes than are to be drawn.
    #[error(
        "{} with fewer than {k} votes: {items}; draw fewer, or draw with replacement",
        plural(items.count, "item")
    )]
    TooFewVotes {
        /// How many were to be drawn.
        k: u32,
        /// Which items.
        items: Named,
    },
    /// Votes without names, where it has to be known who voted.
    #[error("{what} has to know who voted: {why}; use frequencies or dirichlet")]
    NeedsVoters {
        /// The method.
        what: &'static str,
        /// What is missing.
        why: String,
    },
    /// Labels were asked of a method that delivers distributions.
    #[error("{delivery} delivers distributions, not labels; ask for what an epoch sees")]
    NotHard {
        /// The delivery.
        delivery: String,
    },
    /// A label or target per example was asked of a method that delivers a sample per vote.
    #[error(
        "{delivery} delivers a sample per vote, not one label or target per example; ask for its \
         samples"
    )]
    Sampled {
        /// The delivery.
        delivery: String,
    },
    /// Room for another number of labels than there are.
    #[error("room for {found} labels, but there are {expected}")]
    Length {
        /// How much room there is.
        found: usize,
        /// How much is needed.
        expected: usize,
    },
    /// A place beyond the items.
    #[error("there is no item {place}: there are {items}")]
    NoSuchPlace {
        /// The place, from 0.
        place: usize,
        /// How many items there are.
        items: usize,
    },
    /// More memory than there is.
    #[error(
        "{what} of {items} items and {classes} classes needs {:.1} GB of memory, which are not there",
        *bytes as f64 / 1e9
    )]
    Memory {
        /// What would be computed.
        what: &'static str,
        /// How many items there are.
        items: usize,
        /// How many classes there are.
        classes: usize,
        /// What it would take.
        bytes: u64,
    },
    /// More than can be counted on this machine.
    #[error("{what}: too many to be held in memory")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
    },
}

fn plural(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_named_up_to_a_few() {
        let ids = Ids::positions(9);
        assert_eq!(Named::of(&ids, std::iter::empty()), None);
        let items = Named::of(&ids, 0..2).unwrap();
        assert_eq!(LabelError::NoVotes { items }.to_string(), r#"2 items without votes: "0", "1""#);
        let many = Named::of(&ids, 1..9).unwrap();
        assert_eq!(many.to_string(), r#""1", "2", "3", "4", "5" and 3 more"#);
    }
}
