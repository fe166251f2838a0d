//! The vote table: items, classes, annotators, and what is known of their votes.

use std::borrow::Cow;

use thiserror::Error;

use crate::{
    ClassError, ClassSet, Counts, Digest, Distribution, DistributionError, Ids, Probabilities,
    RepeatedId, Scale, ScaleError, Votes,
};

/// Why parts do not make a table.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum TableError {
    /// Another number of rows than there are items.
    #[error("{rows} rows for {items} items")]
    Rows {
        /// How many rows there are.
        rows: usize,
        /// How many items there are.
        items: usize,
    },
    /// Votes for a class that is none.
    #[error("item {item:?} has votes for class {class}, but there are {classes} classes")]
    Class {
        /// The item.
        item: String,
        /// The class, from 0.
        class: u16,
        /// How many classes there are.
        classes: usize,
    },
    /// Probabilities of another number of classes.
    #[error("rows of {found} probabilities for {classes} classes")]
    Columns {
        /// How many each row has.
        found: usize,
        /// How many classes there are.
        classes: usize,
    },
    /// Probabilities that are none.
    #[error(transparent)]
    Probabilities(#[from] DistributionError),
    /// An item that stands twice.
    #[error(transparent)]
    Items(#[from] RepeatedId),
    /// An item without a name.
    #[error("item {place} has an empty id")]
    EmptyId {
        /// Its place, from 0.
        place: usize,
    },
    /// Classes that are not on the scale.
    #[error(transparent)]
    Classes(#[from] ClassError),
    /// A kind of table that does not hold votes on its scale.
    #[error(transparent)]
    Scale(#[from] ScaleError),
    /// A vote for no class or several, on a scale where a vote is for one.
    #[error("a vote on item {item:?} is for {labels} classes, and {scale} votes are for one")]
    Labels {
        /// The item.
        item: String,
        /// For how many.
        labels: usize,
        /// The scale.
        scale: Scale,
    },
}

/// What is known of the votes.
#[derive(Clone, Debug, PartialEq)]
pub enum Ballots {
    /// Every single vote.
    Votes(Votes),
    /// How many votes each class got.
    Counts(Counts),
    /// Only shares; how many votes are behind them is not known.
    Probabilities(Probabilities),
}

/// Items with the votes that people cast on them.
///
/// Made by [`TableBuilder`](crate::TableBuilder) or from counts or probabilities; never changed
/// afterwards. Items stand in the order in which the source first names them.
#[derive(Clone, Debug, PartialEq)]
pub struct VoteTable {
    pub(crate) classes: ClassSet,
    pub(crate) items: Ids,
    pub(crate) annotators: Ids,
    pub(crate) ballots: Ballots,
}

impl VoteTable {
    /// A table of counts, one row per item.
    pub fn from_counts(classes: ClassSet, items: Ids, counts: Counts) -> Result<Self, TableError> {
        classes.scale().require("a table of counts", Scale::ONE_LABEL)?;
        check_items(&items, counts.len())?;
        if let Some((item, class)) = counts.first_beyond(classes.len()) {
            let (item, classes) = (items.name(item).to_owned(), classes.len());
            return Err(TableError::Class { item, class, classes });
        }
        Ok(Self { classes, items, annotators: Ids::default(), ballots: Ballots::Counts(counts) })
    }

    /// A table of probabilities, one row per item.
    pub fn from_probabilities(
        classes: ClassSet,
        items: Ids,
        rows: Probabilities,
    ) -> Result<Self, TableError> {
        classes.scale().require("a table of probabilities", Scale::ONE_LABEL)?;
        let (found, expected) = (rows.classes(), classes.len());
        if found != expected {
            return Err(TableError::Columns { found, classes: expected });
        }
        check_items(&items, rows.len())?;
        let ballots = Ballots::Probabilities(rows);
        Ok(Self { classes, items, annotators: Ids::default(), ballots })
    }

    /// The same votes on another scale. Multi-label votes are single ones, and become one-label votes
    /// only where each is for one class.
    pub fn with_scale(mut self, scale: Scale) -> Result<Self, TableError> {
        match &self.ballots {
            Ballots::Votes(votes) if scale != Scale::MultiLabel => {
                if let Some((item, labels)) = votes.first_set() {
                    let item = self.items.name(item).to_owned();
                    return Err(TableError::Labels { item, labels, scale });
                }
            }
            Ballots::Votes(_) => {}
            Ballots::Counts(_) => scale.require("a table of counts", Scale::ONE_LABEL)?,
            Ballots::Probabilities(_) => {
                scale.require("a table of probabilities", Scale::ONE_LABEL)?;
            }
        }
        self.classes = self.classes.with_scale(scale)?;
        Ok(self)
    }

    /// The items at these places, in this order, with all that is known of their votes. A place
    /// that does not exist, or that came before, is left out.
    pub fn select(&self, places: &[usize]) -> Self {
        let mut new = vec![true; self.len()];
        let first = |&at: &usize| new.get_mut(at).is_some_and(std::mem::take);
        let places: Vec<usize> = places.iter().copied().filter(first).collect();
        let ballots = match &self.ballots {
            Ballots::Votes(votes) => Ballots::Votes(votes.select(&places)),
            Ballots::Counts(counts) => Ballots::Counts(counts.select(&places)),
            Ballots::Probabilities(rows) => Ballots::Probabilities(rows.select(&places)),
        };
        let (classes, annotators) = (self.classes.clone(), self.annotators.clone());
        Self { classes, items: self.items.select(places), annotators, ballots }
    }

    /// The same items with the counts of their votes, without who voted; a table of probabilities or
    /// multi-label votes, which have no counts, as it is.
    pub fn without_voters(&self) -> Self {
        match self.counts() {
            Some(counts) => {
                let (classes, items) = (self.classes.clone(), self.items.clone());
                let ballots = Ballots::Counts(counts.into_owned());
                Self { classes, items, annotators: Ids::default(), ballots }
            }
            None => self.clone(),
        }
    }

    /// The classes.
    pub fn classes(&self) -> &ClassSet {
        &self.classes
    }

    /// Passes where an item's votes make a distribution over the classes: each vote is for one.
    pub fn require_one_label(&self) -> Result<(), ScaleError> {
        self.scale().require("a distribution over the classes", Scale::ONE_LABEL)
    }

    /// The scale of the classes.
    pub fn scale(&self) -> Scale {
        self.classes.scale()
    }

    /// The items' ids.
    pub fn items(&self) -> &Ids {
        &self.items
    }

    /// The annotators' ids; empty where nobody is named.
    pub fn annotators(&self) -> &Ids {
        &self.annotators
    }

    /// What is known of the votes.
    pub fn ballots(&self) -> &Ballots {
        &self.ballots
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Votes per item and class; `None` where only probabilities are known, and for multi-label votes,
    /// whose counts per class are no shares (see [`Votes::count`]).
    pub fn counts(&self) -> Option<Cow<'_, Counts>> {
        match &self.ballots {
            Ballots::Votes(_) if self.scale() == Scale::MultiLabel => None,
            Ballots::Votes(votes) => Some(Cow::Owned(votes.count(self.classes.len()))),
            Ballots::Counts(counts) => Some(Cow::Borrowed(counts)),
            Ballots::Probabilities(_) => None,
        }
    }

    /// The annotator distribution of every item, in order; `None` for an item without votes or with
    /// multi-label votes.
    pub fn distributions(&self) -> Vec<Option<Distribution>> {
        let classes = self.classes.len();
        match (self.counts(), &self.ballots) {
            (Some(counts), _) => (0..self.len())
                .map(|item| Distribution::from_amounts(&counts.row(item, classes)))
                .collect(),
            (None, Ballots::Probabilities(rows)) => (0..self.len())
                .map(|item| Distribution::new(rows.row(item).to_vec()).ok())
                .collect(),
            (None, _) => vec![None; self.len()],
        }
    }

    /// A hash of the content: classes and their order, items, annotators, votes. The order of
    /// rows in the source does not matter; neither does the format they came in.
    pub fn digest(&self) -> Digest {
        crate::digest::of_table(self)
    }
}

/// As many different ids as rows, none of them empty.
fn check_items(items: &Ids, rows: usize) -> Result<(), TableError> {
    if rows != items.len() {
        return Err(TableError::Rows { rows, items: items.len() });
    }
    items.check_different()?;
    match items.iter().position(str::is_empty) {
        Some(place) => Err(TableError::EmptyId { place }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Keep, TableBuilder};

    #[test]
    fn chosen_items_keep_their_votes() {
        let mut votes = TableBuilder::new(Keep::Votes);
        for (row, (item, annotator, label, weight)) in [
            ("a", "ann", "cat", 1.0),
            ("b", "ben", "dog", 2.0),
            ("a", "ben", "dog", 1.0),
            ("c", "ann", "cat", 0.5),
        ]
        .into_iter()
        .enumerate()
        {
            votes.vote(item, Some(annotator), label, weight, row as u64 + 1).unwrap();
        }
        let table = votes.finish().unwrap();
        let chosen = table.select(&[2, 0, 9]);
        assert_eq!(chosen.items().iter().collect::<Vec<_>>(), ["c", "a"]);
        let Ballots::Votes(votes) = chosen.ballots() else { panic!("votes stay votes") };
        let of = |item| votes.of(item).map(|v| (v.class().unwrap(), v.weight)).collect::<Vec<_>>();
        assert_eq!((of(0), of(1)), (vec![(0, 0.5)], vec![(0, 1.0), (1, 1.0)]));
        let (all, some) = (table.distributions(), chosen.distributions());
        assert_eq!((&some[0], &some[1]), (&all[2], &all[0]));
        let counts = VoteTable::from_counts(
            table.classes().clone(),
            table.items().clone(),
            table.counts().unwrap().into_owned(),
        )
        .unwrap();
        assert_eq!(counts.select(&[2, 0]).distributions(), some);
        assert_eq!(counts.select(&[2, 0, 2]).distributions(), some, "an item stands there once");
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let classes = |scale| ClassSet::numbered(2).unwrap().with_scale(scale).unwrap();
        let counted = |classes, ids: Ids, rows: &[&[(u16, u32)]]| {
            let mut counts = Counts::new();
            rows.iter().for_each(|row| counts.push(row.iter().copied()).unwrap());
            VoteTable::from_counts(classes, ids, counts)
        };
        let two = || Ids::new(["a", "b"]).unwrap();
        let nominal = || classes(Scale::Nominal);
        let beyond = counted(nominal(), two(), &[&[(1, 1)], &[(0, 1), (2, 1)]]).unwrap_err();
        assert_eq!(beyond, TableError::Class { item: "b".into(), class: 2, classes: 2 });
        let surplus = counted(nominal(), two(), &[&[], &[], &[(0, 1)]]).unwrap_err();
        assert_eq!(surplus, TableError::Rows { rows: 3, items: 2 });
        let twice = counted(nominal(), two().select([0, 0]), &[&[], &[]]).unwrap_err();
        assert_eq!(twice.to_string(), r#"the id "a" stands twice in a list of ids"#);
        let nameless = counted(nominal(), Ids::new(["a", ""]).unwrap(), &[&[], &[]]);
        assert_eq!(nameless, Err(TableError::EmptyId { place: 1 }));
        let sets = counted(classes(Scale::MultiLabel), two(), &[&[], &[]]).unwrap_err();
        let words = "a table of counts is not defined for multi-label votes, only for nominal and \
                     ordinal ones";
        assert_eq!(sets.to_string(), words);
        let mut rows = Probabilities::new(3);
        rows.push(&[0.5, 0.0, 0.5]).unwrap();
        let wide = VoteTable::from_probabilities(nominal(), Ids::positions(1), rows).unwrap_err();
        assert_eq!(wide, TableError::Columns { found: 3, classes: 2 });
    }

    #[test]
    fn only_sets_of_labels_are_another_content() {
        let mut builder = TableBuilder::new(Keep::Votes);
        builder.vote("a", Some("ann"), "1", 1.0, 1).unwrap();
        builder.vote("a", Some("ben"), "2", 1.0, 2).unwrap();
        let nominal = builder.finish().unwrap();
        let on = |scale| nominal.clone().with_scale(scale).unwrap();
        let digests = Scale::ALL.map(|scale| on(scale).digest());
        assert!(digests[0] == nominal.digest() && digests[1] == digests[0]);
        assert_ne!(digests[2], digests[0]);
        let ordinal = on(Scale::Ordinal);
        assert_eq!(ordinal.distributions(), nominal.distributions());
        assert_eq!(ordinal.without_voters().scale(), Scale::Ordinal);
        let error = ordinal.without_voters().with_scale(Scale::MultiLabel).unwrap_err();
        assert!(error.to_string().contains("counts is not defined for multi-label votes"));
        assert_eq!(on(Scale::MultiLabel).with_scale(Scale::Nominal).unwrap(), nominal);
    }
}
