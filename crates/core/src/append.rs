//! Two tables as one: the items of the first, and after them those of the second.
//!
//! What both know of their votes decides what the whole knows:
//!
//! | first \\ second | votes | counts | weighted counts | probabilities |
//! |---|---|---|---|---|
//! | votes | votes | votes | – | – |
//! | counts | votes | counts | weighted counts | – |
//! | weighted counts | – | weighted counts | weighted counts | – |
//! | probabilities | – | – | – | probabilities |
//!
//! Beside votes, a count of n is n votes of nobody known; beside weighted counts, it weighs n.
//! Nothing is lost by either. What cannot be joined is an error: a share does not say how many votes
//! it stands for, nor a sum of weights how they were spread.

use thiserror::Error;

use crate::votes::{NOBODY, sets_of_several};
use crate::{
    Ballots, ClassError, ClassSet, Counts, DistributionError, Ids, IdsBuilder, Probabilities,
    Scale, Vote, VoteTable, Votes,
};

/// Why two tables do not make one.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum AppendError {
    /// Other classes, or the same in another order.
    #[error(
        "the classes are {first} in the first table and {second} in the second; give both the same \
         classes in the same order"
    )]
    Classes {
        /// Those of the first.
        first: String,
        /// Those of the second.
        second: String,
    },
    /// Other scales.
    #[error(
        "the votes are {first} in the first table and {second} in the second; read both as one scale"
    )]
    Scale {
        /// That of the first.
        first: Scale,
        /// That of the second.
        second: Scale,
    },
    /// Names that are not on the scale of the votes.
    #[error(transparent)]
    Class(#[from] ClassError),
    /// Names for another number of classes.
    #[error("{names} names for {classes} classes; give each class one name")]
    Names {
        /// How many names came.
        names: usize,
        /// How many classes there are.
        classes: usize,
    },
    /// An item of both.
    #[error("item {id:?} stands in both tables; give the items of one of them a prefix")]
    Item {
        /// Its id.
        id: String,
    },
    /// Votes that are known in ways that do not go together.
    #[error(
        "the first table holds {first}, the second {second}, which do not make one table; bring \
         both into one form, such as counts"
    )]
    Ballots {
        /// What the first holds.
        first: &'static str,
        /// What the second holds.
        second: &'static str,
    },
    /// More annotators or votes than can be numbered.
    #[error("more than {} {what} in both tables together", u32::MAX)]
    TooMany {
        /// What there is too much of.
        what: &'static str,
    },
    /// Probabilities that are none, or of another number of classes.
    #[error(transparent)]
    Probabilities(#[from] DistributionError),
}

impl VoteTable {
    /// The same votes, on the same scale, with other names for the classes, as many as there are.
    pub fn with_classes(mut self, classes: ClassSet) -> Result<Self, AppendError> {
        if classes.len() != self.classes.len() {
            let (names, classes) = (classes.len(), self.classes.len());
            return Err(AppendError::Names { names, classes });
        }
        self.classes = classes.with_scale(self.scale())?;
        Ok(self)
    }

    /// The same votes on items whose ids begin with this.
    pub fn with_prefix(mut self, prefix: &str) -> Self {
        self.items = self.items.with_prefix(prefix);
        self
    }

    /// These items, and after them those of `other`, with all that is known of their votes but the
    /// rows they came from. Both have the same classes in the same order, and no item stands in
    /// both; annotators of one name are one.
    pub fn followed_by(&self, other: &Self) -> Result<Self, AppendError> {
        let names = |table: &Self| table.classes.names().join(", ");
        if self.classes.names() != other.classes.names() {
            return Err(AppendError::Classes { first: names(self), second: names(other) });
        }
        if self.scale() != other.scale() {
            return Err(AppendError::Scale { first: self.scale(), second: other.scale() });
        }
        if let Some(id) = other.items.iter().find(|id| self.items.position(id).is_some()) {
            return Err(AppendError::Item { id: id.to_owned() });
        }
        let mut annotators = IdsBuilder::new();
        let tables = [self, other];
        let ballots = match (&self.ballots, &other.ballots) {
            (Ballots::Counts(a), Ballots::Counts(b)) => {
                let weighted = a.is_weighted() || b.is_weighted();
                let mut counts = Counts::new();
                counts.extend(a, 0..a.len(), weighted);
                counts.extend(b, 0..b.len(), weighted);
                Ballots::Counts(counts)
            }
            (Ballots::Probabilities(_), Ballots::Probabilities(_)) => {
                let mut all = Probabilities::new(self.classes.len());
                for table in tables {
                    let Ballots::Probabilities(rows) = &table.ballots else { continue };
                    (0..table.len()).try_for_each(|item| all.push(rows.row(item)))?;
                }
                Ballots::Probabilities(all)
            }
            (a, b) if a.are_countable() && b.are_countable() => {
                let mut all = Casting::default();
                for table in tables {
                    table.append_votes(&mut annotators, &mut all)?;
                }
                Ballots::Votes(all.finish())
            }
            (a, b) => {
                let (first, second) = (a.describe(), b.describe());
                return Err(AppendError::Ballots { first, second });
            }
        };
        let items = Ids::from_different(self.items.iter().chain(other.items.iter()));
        let (classes, annotators) = (self.classes.clone(), annotators.finish());
        Ok(Self { classes, items, annotators, ballots })
    }

    fn append_votes(
        &self,
        annotators: &mut IdsBuilder,
        into: &mut Casting,
    ) -> Result<(), AppendError> {
        let number = |name: &str| annotators.intern(name).map(|(number, _)| number);
        let numbers: Option<Vec<u32>> = self.annotators.iter().map(number).collect();
        let numbers = numbers.ok_or(AppendError::TooMany { what: "annotators" })?;
        let who = |at: u32| numbers.get(at as usize).copied();
        for item in 0..self.len() {
            match &self.ballots {
                Ballots::Votes(votes) => votes.of(item).try_for_each(|vote| {
                    into.push(Vote { annotator: vote.annotator.and_then(who), ..vote })
                })?,
                Ballots::Counts(counts) => counts.entries(item).try_for_each(|(class, n)| {
                    let vote = Vote { annotator: None, labels: &[class], weight: 1.0, row: None };
                    (0..n).try_for_each(|_| into.push(vote))
                })?,
                Ballots::Probabilities(_) => {}
            }
            into.close_item();
        }
        Ok(())
    }
}

impl Ballots {
    /// Whether every vote can be counted.
    fn are_countable(&self) -> bool {
        match self {
            Self::Votes(_) => true,
            Self::Counts(counts) => !counts.is_weighted(),
            Self::Probabilities(_) => false,
        }
    }

    fn describe(&self) -> &'static str {
        match self {
            Self::Votes(_) => "single votes",
            Self::Counts(counts) if counts.is_weighted() => "weighted counts",
            Self::Counts(_) => "counts",
            Self::Probabilities(_) => "probabilities",
        }
    }
}

/// Votes on their way into a table.
#[derive(Default)]
struct Casting {
    ends: Vec<usize>,
    labels: Vec<u16>,
    sets: Vec<usize>,
    annotators: Vec<u32>,
    weights: Vec<f64>,
}

impl Casting {
    fn push(&mut self, vote: Vote<'_>) -> Result<(), AppendError> {
        if self.annotators.len() >= u32::MAX as usize {
            return Err(AppendError::TooMany { what: "votes" });
        }
        self.labels.extend_from_slice(vote.labels);
        self.sets.push(self.labels.len());
        self.annotators.push(vote.annotator.unwrap_or(NOBODY));
        self.weights.push(vote.weight);
        Ok(())
    }

    fn close_item(&mut self) {
        self.ends.push(self.annotators.len());
    }

    /// A column that says nothing is left out, as readers leave it out.
    fn finish(self) -> Votes {
        let Self { ends, labels, sets, annotators, weights } = self;
        let named = annotators.iter().any(|&who| who != NOBODY);
        let weighted = weights.iter().any(|&weight| weight != 1.0);
        Votes {
            starts: std::iter::once(0).chain(ends).collect(),
            labels,
            sets: sets_of_several(std::iter::once(0).chain(sets).collect()),
            annotators: if named { annotators } else { Vec::new() },
            weights: if weighted { weights } else { Vec::new() },
            rows: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClassOrder, Keep, TableBuilder};

    fn classes(names: &[&str]) -> ClassSet {
        ClassSet::new(names.iter().map(ToString::to_string).collect(), ClassOrder::Declared)
            .unwrap()
    }

    fn cast(votes: &[(&str, Option<&str>, &str, f64)]) -> VoteTable {
        let mut builder = TableBuilder::new(Keep::VotesAndRows);
        builder.declare(classes(&["no", "yes"])).unwrap();
        for (row, &(item, who, label, weight)) in (1..).zip(votes) {
            builder.vote(item, who, label, weight, row).unwrap();
        }
        builder.finish().unwrap()
    }

    fn counted(ids: &[&str], rows: &[[u32; 2]]) -> VoteTable {
        let mut counts = Counts::new();
        for row in rows {
            counts.push((0..).zip(*row)).unwrap();
        }
        VoteTable::from_counts(classes(&["no", "yes"]), Ids::new(ids).unwrap(), counts).unwrap()
    }

    fn weighed(ids: &[&str], rows: &[[f64; 2]]) -> VoteTable {
        let mut counts = Counts::new();
        for row in rows {
            let entries = (0..).zip(*row).map(|(class, weight)| (class, 1, weight));
            counts.push_weighted(entries).unwrap();
        }
        VoteTable::from_counts(classes(&["no", "yes"]), Ids::new(ids).unwrap(), counts).unwrap()
    }

    fn shares(ids: &[&str], rows: &[[f64; 2]]) -> VoteTable {
        let mut all = Probabilities::new(2);
        rows.iter().for_each(|row| all.push(row).unwrap());
        let ids = Ids::new(ids).unwrap();
        VoteTable::from_probabilities(classes(&["no", "yes"]), ids, all).unwrap()
    }

    fn rows(table: &VoteTable) -> Vec<Vec<f64>> {
        let counts = table.counts().unwrap();
        (0..table.len()).map(|item| counts.row(item, 2)).collect()
    }

    #[test]
    fn votes_keep_their_annotators_and_weights() {
        let one = cast(&[("a", Some("ann"), "no", 1.0), ("a", Some("ben"), "yes", 1.0)]);
        let two = cast(&[("b", Some("cem"), "yes", 2.0), ("c", Some("ben"), "no", 1.0)]);
        let both = one.followed_by(&two).unwrap();
        assert_eq!(both.items().iter().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(both.annotators().iter().collect::<Vec<_>>(), ["ann", "ben", "cem"]);
        let Ballots::Votes(votes) = both.ballots() else { panic!("votes stay votes") };
        let of =
            |item| votes.of(item).map(|v| (v.annotator, v.labels[0], v.weight)).collect::<Vec<_>>();
        assert_eq!(of(0), [(Some(0), 0, 1.0), (Some(1), 1, 1.0)]);
        assert_eq!(of(1), [(Some(2), 1, 2.0)]);
        assert_eq!(of(2), [(Some(1), 0, 1.0)]);
        assert!(votes.is_weighted() && votes.of(0).all(|vote| vote.row.is_none()));
        // The same as if all had been read from one file.
        let whole = cast(&[
            ("a", Some("ann"), "no", 1.0),
            ("a", Some("ben"), "yes", 1.0),
            ("b", Some("cem"), "yes", 2.0),
            ("c", Some("ben"), "no", 1.0),
        ]);
        assert_eq!(both.digest(), whole.digest());
    }

    #[test]
    fn beside_votes_a_count_is_votes_of_nobody() {
        let named = cast(&[("a", Some("ann"), "no", 1.0), ("b", None, "yes", 1.0)]);
        let many = counted(&["x", "y", "z"], &[[2, 1], [0, 0], [0, 3]]);
        for (first, second) in [(&named, &many), (&many, &named)] {
            let both = first.followed_by(second).unwrap();
            assert_eq!(rows(&both), [rows(first), rows(second)].concat());
            let Ballots::Votes(votes) = both.ballots() else { panic!("votes") };
            let named: Vec<_> =
                (0..5).flat_map(|item| votes.of(item)).filter_map(|vote| vote.annotator).collect();
            assert_eq!((named, votes.len(), votes.is_weighted()), (vec![0], 8, false));
            // Items of the whole are what they were in their tables.
            let at: Vec<usize> = (0..first.len()).collect();
            assert_eq!(both.select(&at).distributions(), first.distributions());
        }
    }

    #[test]
    fn counts_and_shares_stay_what_they_are() {
        let (one, two) = (counted(&["a"], &[[2, 1]]), counted(&["b", "c"], &[[0, 4], [0, 0]]));
        let both = one.followed_by(&two).unwrap();
        assert_eq!(both, counted(&["a", "b", "c"], &[[2, 1], [0, 4], [0, 0]]));
        let heavy = one.followed_by(&weighed(&["w"], &[[0.5, 2.5]])).unwrap();
        assert_eq!(rows(&heavy), [[2.0, 1.0], [0.5, 2.5]]);
        assert!(heavy.counts().unwrap().is_weighted());
        let both = shares(&["a"], &[[0.25, 0.75]]).followed_by(&shares(&["b"], &[[1.0, 0.0]]));
        assert_eq!(both.unwrap(), shares(&["a", "b"], &[[0.25, 0.75], [1.0, 0.0]]));
    }

    #[test]
    fn what_cannot_be_joined_is_named() {
        let error =
            |one: &VoteTable, two: &VoteTable| one.followed_by(two).unwrap_err().to_string();
        let votes = cast(&[("v", Some("ann"), "no", 1.0)]);
        let (counts, heavy) = (counted(&["a"], &[[1, 1]]), weighed(&["w"], &[[0.5, 0.5]]));
        let part = shares(&["p"], &[[0.5, 0.5]]);
        let wanted = "the first table holds single votes, the second probabilities, which do not \
                      make one table; bring both into one form, such as counts";
        assert_eq!(error(&votes, &part), wanted);
        assert!(error(&heavy, &votes).contains("weighted counts, the second single votes"));
        assert!(error(&counts, &part).contains("counts, the second probabilities"));
        let wanted = "item \"a\" stands in both tables; give the items of one of them a prefix";
        assert_eq!(error(&counts, &counts), wanted);
        let renamed = counts.clone().with_prefix("in/").with_classes(classes(&["yes", "no"]));
        let message = error(&counts, &renamed.unwrap());
        assert!(
            message.starts_with("the classes are no, yes in the first table and yes, no in the")
        );
    }

    #[test]
    fn sets_of_labels_stay_together() {
        let sets = |votes: &[(&str, &str, &[&str])]| {
            let mut builder = TableBuilder::new(Keep::Votes);
            let yes_or_no = classes(&["no", "yes"]);
            builder.declare(yes_or_no.with_scale(Scale::MultiLabel).unwrap()).unwrap();
            for (row, (item, who, labels)) in (1..).zip(votes) {
                builder.vote_set(item, Some(who), labels, 1.0, row).unwrap();
            }
            builder.finish().unwrap()
        };
        let one = sets(&[("a", "ann", &["yes", "no"]), ("a", "ben", &[])]);
        let two = sets(&[("b", "ben", &["yes"])]);
        let all: [(&str, &str, &[&str]); 3] =
            [("a", "ann", &["yes", "no"]), ("a", "ben", &[]), ("b", "ben", &["yes"])];
        assert_eq!(one.followed_by(&two).unwrap().digest(), sets(&all).digest());
        let renamed = one.clone().with_classes(classes(&["0", "1"])).unwrap();
        assert_eq!(renamed.scale(), Scale::MultiLabel);
        let nominal = cast(&[("b", None, "no", 1.0)]);
        let words = "the votes are multi-label in the first table and nominal in the second; read \
                     both as one scale";
        assert_eq!(one.followed_by(&nominal).unwrap_err().to_string(), words);
    }

    #[test]
    fn items_and_classes_can_be_called_otherwise() {
        let table = counted(&["a", "b"], &[[2, 1], [0, 4]]);
        let other = table.clone().with_prefix("set/").with_classes(classes(&["0", "1"])).unwrap();
        assert_eq!(other.items().iter().collect::<Vec<_>>(), ["set/a", "set/b"]);
        assert_eq!(
            (other.classes().names(), rows(&other)),
            (&["0", "1"].map(String::from)[..], rows(&table))
        );
        assert_eq!(
            table.followed_by(&other.with_classes(classes(&["no", "yes"])).unwrap()).unwrap().len(),
            4
        );
        let error = table.with_classes(classes(&["no"])).unwrap_err().to_string();
        assert_eq!(error, "1 names for 2 classes; give each class one name");
    }
}
