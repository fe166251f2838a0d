//! A vote table that is fit to be delivered: every item has votes, every class exists, and the
//! [key](crate::example_key) of every item is at hand.

use std::borrow::Cow;
use std::sync::Arc;

use dissensus_core::limits::is_available;
use dissensus_core::{Ballots, ClassSet, Counts, Ids, Probabilities, VoteTable, Votes};
use rayon::prelude::*;

use crate::{LabelError, Named, example_key};

/// How far a sum of probabilities may be from 1 by the rounding of f64. Probabilities within it
/// stay as they are; those rounded to fewer places are divided by their sum.
const ROUNDING: f64 = 1e-12;

#[derive(Clone, Debug)]
enum Amounts<'a> {
    Counts(Cow<'a, Counts>),
    Shares(Cow<'a, Probabilities>),
}

/// A checked vote table. Made once, it serves any number of deliveries and draws.
///
/// Memory: 8 bytes per item, and the counts where the table holds single votes.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    classes: Cow<'a, ClassSet>,
    items: Cow<'a, Ids>,
    keys: Arc<[u64]>,
    amounts: Amounts<'a>,
    /// The votes one by one, with the annotators' names, where they are known.
    votes: Option<(Cow<'a, Votes>, Cow<'a, Ids>)>,
}

impl<'a> Source<'a> {
    /// Checks a table of votes for one class each. Items without votes are an error that names them.
    pub fn new(table: &'a VoteTable) -> Result<Self, LabelError> {
        let mut source = Self::unkeyed(table)?;
        let items = table.items();
        let key = |place| example_key(items.name(place));
        source.keys = (0..items.len()).into_par_iter().map(key).collect();
        Ok(source)
    }

    /// A checked table whose items have no keys yet, for those who draw nothing.
    pub(crate) fn unkeyed(table: &'a VoteTable) -> Result<Self, LabelError> {
        table.require_one_label()?;
        let amounts = match (table.counts(), table.ballots()) {
            (None, Ballots::Probabilities(rows)) => Amounts::Shares(Cow::Borrowed(rows)),
            (counts, _) => Amounts::Counts(counts.unwrap_or_default()),
        };
        let (classes, items) = (Cow::Borrowed(table.classes()), Cow::Borrowed(table.items()));
        let votes = match table.ballots() {
            Ballots::Votes(votes) => {
                Some((Cow::Borrowed(votes), Cow::Borrowed(table.annotators())))
            }
            _ => None,
        };
        let source = Self { classes, items, keys: Arc::new([]), amounts, votes };
        source.check()?;
        Ok(source)
    }

    fn check(&self) -> Result<(), LabelError> {
        let empty = (0..self.len()).filter(|&place| self.total(place) <= 0.0);
        match Named::of(&self.items, empty) {
            Some(items) => Err(LabelError::NoVotes { items }),
            None => Ok(()),
        }
    }

    /// The items at these places, in this order (a training split, say). A label does not depend
    /// on it; the permutation of `shuffled_sls` is one of these items.
    pub fn select(&self, places: &[usize]) -> Result<Source<'static>, LabelError> {
        let items = self.len();
        if let Some(&place) = places.iter().find(|&&place| place >= items) {
            return Err(LabelError::NoSuchPlace { place, items });
        }
        Ok(Source {
            classes: Cow::Owned(self.classes.clone().into_owned()),
            items: Cow::Owned(self.items.select(places.iter().copied())),
            keys: places.iter().map(|&place| self.keys[place]).collect(),
            amounts: self.rearranged(places)?,
            votes: self.rearranged_votes(places),
        })
    }

    /// The same items and keys, where the i-th has the votes of the item at `donors[i]`.
    pub(crate) fn with_votes_of(&self, donors: &[usize]) -> Result<Self, LabelError> {
        let (amounts, votes) = (self.rearranged(donors)?, self.rearranged_votes(donors));
        Ok(Self { amounts, votes, ..self.clone() })
    }

    fn rearranged_votes(
        &self,
        places: &[usize],
    ) -> Option<(Cow<'static, Votes>, Cow<'static, Ids>)> {
        let (votes, annotators) = self.votes.as_ref()?;
        Some((Cow::Owned(votes.select(places)), Cow::Owned(annotators.clone().into_owned())))
    }

    fn rearranged(&self, places: &[usize]) -> Result<Amounts<'static>, LabelError> {
        Ok(match &self.amounts {
            Amounts::Counts(counts) => Amounts::Counts(Cow::Owned(counts.select(places))),
            Amounts::Shares(rows) => {
                let rows = places.iter().map(|&place| (place, rows.row(place)));
                let chosen = probabilities(self.classes.len(), &self.items, rows)?;
                Amounts::Shares(Cow::Owned(chosen))
            }
        })
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The classes.
    pub fn classes(&self) -> &ClassSet {
        &self.classes
    }

    /// The items' ids.
    pub fn items(&self) -> &Ids {
        &self.items
    }

    /// The items' keys.
    pub fn keys(&self) -> &Arc<[u64]> {
        &self.keys
    }

    /// Passes where votes are counted and count the same; else says what to use instead.
    pub(crate) fn require_counts(
        &self,
        what: &'static str,
        instead: &'static str,
    ) -> Result<(), LabelError> {
        match &self.amounts {
            Amounts::Shares(_) => Err(LabelError::NeedsCounts { what, instead }),
            Amounts::Counts(counts) if counts.is_weighted() => {
                Err(LabelError::Weighted { what, instead })
            }
            Amounts::Counts(_) => Ok(()),
        }
    }

    /// Whether labels can be drawn by counting votes.
    pub(crate) fn is_counted(&self) -> bool {
        matches!(&self.amounts, Amounts::Counts(counts) if !counts.is_weighted())
    }

    /// Whether only shares are known.
    pub(crate) fn is_shares(&self) -> bool {
        matches!(&self.amounts, Amounts::Shares(_))
    }

    /// Who voted for each class on an item, by class and by the annotators' names, so that nothing
    /// depends on the order of the votes; `None` where the votes are not known one by one.
    pub(crate) fn voters(&self, place: usize) -> Option<Vec<(u16, Option<u32>)>> {
        let (votes, annotators) = self.votes.as_ref()?;
        let cast = votes.of(place).filter_map(|vote| Some((vote.class()?, vote.annotator)));
        let mut cast: Vec<(u16, Option<u32>)> = cast.collect();
        cast.sort_by_key(|&(class, who)| (class, who.map(|who| annotators.name(who as usize))));
        Some(cast)
    }

    /// The (class, votes) entries of an item; none where only shares are known.
    pub(crate) fn entries(&self, place: usize) -> impl Iterator<Item = (u16, u32)> + '_ {
        let counts = match &self.amounts {
            Amounts::Counts(counts) => Some(counts),
            Amounts::Shares(_) => None,
        };
        counts.into_iter().flat_map(move |counts| counts.entries(place))
    }

    /// How many votes an item got; 0 where only shares are known.
    pub(crate) fn votes(&self, place: usize) -> u64 {
        match &self.amounts {
            Amounts::Counts(counts) => counts.votes(place),
            Amounts::Shares(_) => 0,
        }
    }

    /// Every class of an item that got something, ascending, with its votes, weight or share.
    pub(crate) fn amounts(&self, place: usize, mut each: impl FnMut(u16, f64)) {
        match &self.amounts {
            Amounts::Counts(counts) => {
                counts.amounts(place).filter(|e| e.1 > 0.0).for_each(|(class, a)| each(class, a));
            }
            Amounts::Shares(rows) => {
                let shares = rows.row(place).iter().enumerate().filter(|e| *e.1 > 0.0);
                shares.for_each(|(class, &share)| each(class as u16, share));
            }
        }
    }

    /// The sum of an item's amounts.
    pub(crate) fn total(&self, place: usize) -> f64 {
        let mut total = 0.0;
        self.amounts(place, |_, amount| total += amount);
        total
    }

    /// Writes an item's distribution p_i.
    pub fn distribution(&self, place: usize, row: &mut [f64]) {
        row.fill(0.0);
        let mut total = self.total(place);
        if self.is_shares() && (total - 1.0).abs() <= ROUNDING {
            total = 1.0;
        }
        self.amounts(place, |class, amount| {
            if let Some(cell) = row.get_mut(class as usize) {
                *cell = amount / total;
            }
        });
    }

    /// Refuses what would hold more numbers per item and class than there is memory for.
    pub(crate) fn check_memory(&self, what: &'static str, numbers: u64) -> Result<(), LabelError> {
        let (items, classes) = (self.len(), self.classes.len());
        check_memory(what, items, classes, (items as u64).saturating_mul(classes as u64 * numbers))
    }

    /// All distributions, row by row.
    pub fn distributions(&self) -> Vec<f64> {
        let classes = self.classes.len().max(1);
        let mut rows = vec![0.0; self.len() * classes];
        let each = |(place, row): (usize, &mut [f64])| self.distribution(place, row);
        rows.par_chunks_exact_mut(classes).with_min_len(1024).enumerate().for_each(each);
        rows
    }
}

/// Refuses what would hold more numbers than there is memory for.
pub(crate) fn check_memory(
    what: &'static str,
    items: usize,
    classes: usize,
    numbers: u64,
) -> Result<(), LabelError> {
    let bytes = numbers.saturating_mul(8);
    match is_available(bytes) {
        true => Ok(()),
        false => Err(LabelError::Memory { what, items, classes, bytes }),
    }
}

/// The rows of these (place, row), each checked.
pub(crate) fn probabilities<'r>(
    classes: usize,
    items: &Ids,
    rows: impl Iterator<Item = (usize, &'r [f64])>,
) -> Result<Probabilities, LabelError> {
    let mut chosen = Probabilities::new(classes);
    for (place, row) in rows {
        let item = || items.name(place).to_owned();
        let named = |source| LabelError::NotADistribution { item: item(), source };
        chosen.push(row).map_err(named)?;
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{counted, shares, weighted};
    use dissensus_core::Scale;

    #[test]
    fn items_without_votes_are_named() {
        let table = counted(&[vec![1, 0], vec![0, 0], vec![0, 0], vec![2, 2]]);
        let error = Source::new(&table).unwrap_err().to_string();
        assert_eq!(error, r#"2 items without votes: "i1", "i2""#);
        let table = weighted(&[&[("x", 1.0)], &[("x", 0.0)]]);
        let error = Source::new(&table).unwrap_err().to_string();
        assert_eq!(error, r#"1 item without votes: "i1""#);
    }

    #[test]
    fn votes_for_several_classes_are_refused() {
        let table = weighted(&[&[("x", 1.0), ("y", 1.0)]]).with_scale(Scale::MultiLabel).unwrap();
        let words = "a distribution over the classes is not defined for multi-label votes, only for \
                     nominal and ordinal ones";
        assert_eq!(Source::new(&table).unwrap_err().to_string(), words);
    }

    #[test]
    fn distributions_of_counts_weights_and_shares() {
        let table = counted(&[vec![3, 0, 1], vec![0, 2, 0]]);
        let source = Source::new(&table).unwrap();
        assert_eq!(source.distributions(), [0.75, 0.0, 0.25, 0.0, 1.0, 0.0]);
        let part = source.select(&[1]).unwrap();
        assert_eq!((part.distributions(), part.keys()[0]), (vec![0.0, 1.0, 0.0], source.keys()[1]));
        let error = LabelError::NoSuchPlace { place: 2, items: 2 };
        assert_eq!(source.select(&[0, 2]).unwrap_err(), error);

        let table = weighted(&[&[("x", 1.0), ("y", 0.25), ("y", 0.75)]]);
        let source = Source::new(&table).unwrap();
        assert_eq!(source.distributions(), [0.5, 0.5]);
        assert_eq!(source.select(&[0, 0]).unwrap().distributions(), [0.5; 4]);

        let table = shares(&[vec![0.25, 0.75], vec![0.333, 0.666]]);
        let sum = 0.333 + 0.666;
        let source = Source::new(&table).unwrap();
        assert_eq!(source.distributions(), [0.25, 0.75, 0.333 / sum, 0.666 / sum]);
        assert_eq!(source.select(&[0]).unwrap().distributions(), [0.25, 0.75]);
    }
}
