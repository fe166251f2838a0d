//! A data set that is trained on, and another that the runs are judged on.
//!
//! Both make one table and one set of inputs, the trained items first, each set sorted by id. Judged
//! items keep their ids, so that predictions can be scored against their votes; trained ones get the
//! name of their data set before theirs, as in `cifar10n/17`, so that no two are called the same and
//! no draw of the one depends on the other.
//!
//! Classes are matched by name. Where those of one set are only numbered, as a matrix without names
//! has them, they are matched by position, and called what the other set calls them.

use dissensus_core::{ClassSet, VoteTable};
use dissensus_inputs::{Inputs, Joined};

use super::{Task, identity, matched};
use crate::TrainError;

/// Votes and inputs of a data set, with its name.
#[derive(Clone, Copy)]
pub struct Voted<'a> {
    /// A short name.
    pub name: &'a str,
    /// The votes.
    pub table: &'a VoteTable,
    /// The inputs.
    pub inputs: &'a Inputs,
}

/// How the votes and inputs of two data sets were matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BothJoined {
    /// Those that are trained on.
    pub own: Joined,
    /// Those that are judged on.
    pub judged: Joined,
    /// Whether the classes were matched by position, because one set only numbers them.
    pub classes_by_position: bool,
}

impl Task {
    /// The items of `own`, to be split, and those of `other`, to be judged on. Items without votes
    /// or without an input are left out of each.
    pub fn judged_on(own: Voted<'_>, other: Voted<'_>) -> Result<(Self, BothJoined), TrainError> {
        let names = format!("{} and {}", own.name, other.name);
        let unfit = |why: &dyn std::fmt::Display| {
            TrainError::Data(format!(
                "runs on {} cannot be judged on {}: {why}",
                own.name, other.name
            ))
        };
        if own.name == other.name {
            let why = "it is the data set that is trained on; name another, or split it";
            return Err(unfit(&why));
        }
        let of = |set: Voted<'_>| match matched(set.table, set.inputs) {
            Err(TrainError::Data(why)) => Err(TrainError::Data(format!("{}: {why}", set.name))),
            other => other,
        };
        let (own_table, own_inputs, own_joined) = of(own)?;
        let (table, inputs, judged_joined) = of(other)?;
        let own_table = own_table.with_prefix(&format!("{}/", own.name));
        // The ids of the votes, which inputs without any have none of.
        let own_inputs = own_inputs.renamed(own.name, own_table.items().clone())?;
        let inputs = inputs.renamed(other.name, table.items().clone())?;

        let mut data = identity(own.name, &own_table, &own_inputs);
        data.judged_on = Some(Box::new(identity(other.name, &table, &inputs)));
        let (classes, classes_by_position) = agreed(own_table.classes(), table.classes())
            .ok_or_else(|| {
                let listed = |table: &VoteTable| table.classes().names().join(", ");
                unfit(&format!(
                    "the classes are {} and {}; expected the same in the same order, or as many \
                     that are only numbered",
                    listed(&own_table),
                    listed(&table)
                ))
            })?;
        let unjoined = |error: &dyn std::fmt::Display| {
            TrainError::Data(format!("the votes of {names} do not make one table: {error}"))
        };
        // One of them may be known to be ordinal, the other one not.
        let scale = own_table.scale();
        let named = |table: VoteTable| {
            let table = table.with_classes(classes.clone()).map_err(|error| unjoined(&error))?;
            table.with_scale(scale).map_err(|error| unjoined(&error))
        };
        let (own, table) = (named(own_table)?, named(table)?);
        let items = own.len();
        let table = own.followed_by(&table).map_err(|error| unjoined(&error))?;
        let inputs = own_inputs.followed_by(&inputs)?;
        let task = Self::of(table, inputs, data, items, &own_joined)?;
        Ok((task, BothJoined { own: own_joined, judged: judged_joined, classes_by_position }))
    }
}

/// What the classes of both are called, and whether they are matched by position; `None` where they
/// are not the same.
fn agreed(own: &ClassSet, judged: &ClassSet) -> Option<(ClassSet, bool)> {
    let numbered =
        |set: &ClassSet| (0..).zip(set.names()).all(|(n, name): (u32, _)| *name == n.to_string());
    match (own.names() == judged.names(), own.len() == judged.len()) {
        (true, _) => Some((own.clone(), false)),
        (false, true) if numbered(judged) => Some((own.clone(), true)),
        (false, true) if numbered(own) => Some((judged.clone(), true)),
        _ => None,
    }
}
