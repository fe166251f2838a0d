//! What the votes on each item amount to, without who cast them.

use thiserror::Error;

use crate::HEAVIEST;
use crate::distribution::{self, DistributionError};

/// Why entries are not the votes on an item.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum CountsError {
    /// More votes for one class than can be counted.
    #[error("more than {} votes for class {class} of one item", u32::MAX)]
    TooMany {
        /// The class.
        class: u16,
    },
    /// A weight that votes cannot have.
    #[error("{votes} votes for class {class} cannot weigh {weight}")]
    Weight {
        /// The class.
        class: u16,
        /// Its votes.
        votes: u32,
        /// What they weigh.
        weight: f64,
    },
}

/// Votes per item and class. Only classes that got a vote take space, so that a hundred classes
/// with five votes per item cost no more than ten.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Item i owns the entries `starts[i]..starts[i + 1]`.
    starts: Vec<usize>,
    classes: Vec<u16>,
    counts: Vec<u32>,
    /// Summed vote weights beside `counts`, where votes carry weights.
    weights: Option<Vec<f64>>,
}

impl Counts {
    /// No items.
    pub fn new() -> Self {
        Self { starts: vec![0], ..Self::default() }
    }

    /// No items, but memory for so many with so many entries in all.
    pub(crate) fn with_room(items: usize, entries: usize) -> Self {
        let mut starts = Vec::with_capacity(items + 1);
        starts.push(0);
        let (classes, counts) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
        Self { starts, classes, counts, weights: None }
    }

    /// Adds an item with these (class, votes) entries, in any order; entries of one class are added up.
    pub fn push(
        &mut self,
        entries: impl IntoIterator<Item = (u16, u32)>,
    ) -> Result<(), CountsError> {
        let weigh = |(class, votes)| (class, votes, f64::from(votes));
        let entries = merged(entries.into_iter().map(weigh))?;
        self.push_merged(&entries);
        Ok(())
    }

    /// As [`push`](Self::push) with the summed weight of each entry. An item that was added without
    /// weights weighs as much as it has votes.
    pub fn push_weighted(
        &mut self,
        entries: impl IntoIterator<Item = (u16, u32, f64)>,
    ) -> Result<(), CountsError> {
        let entries = merged(entries.into_iter())?;
        self.weighted();
        self.push_merged(&entries);
        Ok(())
    }

    /// Entries carry weights from now on.
    fn weighted(&mut self) {
        let votes = || self.counts.iter().map(|&votes| f64::from(votes)).collect();
        self.weights = Some(self.weights.take().unwrap_or_else(votes));
    }

    fn push_merged(&mut self, entries: &[(u16, u32, f64)]) {
        for &(class, count, weight) in entries {
            self.classes.push(class);
            self.counts.push(count);
            self.weights.iter_mut().for_each(|weights| weights.push(weight));
        }
        self.close_item();
    }

    /// Adds an item whose entries are known to ascend by class, with votes above 0. To be used for
    /// all items or none.
    pub(crate) fn push_sorted(&mut self, entries: impl IntoIterator<Item = (u16, u32)>) {
        for (class, count) in entries {
            self.classes.push(class);
            self.counts.push(count);
        }
        self.close_item();
    }

    /// The same with weights.
    pub(crate) fn push_sorted_weighted(
        &mut self,
        entries: impl IntoIterator<Item = (u16, u32, f64)>,
    ) {
        let mut weights = self.weights.take().unwrap_or_default();
        for (class, count, weight) in entries {
            self.classes.push(class);
            self.counts.push(count);
            weights.push(weight);
        }
        self.weights = Some(weights);
        self.close_item();
    }

    fn close_item(&mut self) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.starts.push(self.classes.len());
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn range(&self, item: usize) -> std::ops::Range<usize> {
        match (self.starts.get(item), self.starts.get(item + 1)) {
            (Some(&start), Some(&end)) => start..end,
            _ => 0..0,
        }
    }

    /// The (class, votes) entries of an item, classes ascending.
    pub fn entries(&self, item: usize) -> impl Iterator<Item = (u16, u32)> + Clone + '_ {
        let range = self.range(item);
        self.classes[range.clone()].iter().copied().zip(self.counts[range].iter().copied())
    }

    /// The (class, amount) entries of an item: summed weights where there are any, else votes.
    pub fn amounts(&self, item: usize) -> impl Iterator<Item = (u16, f64)> + '_ {
        self.range(item).map(move |at| {
            let amount = match &self.weights {
                Some(weights) => weights[at],
                None => f64::from(self.counts[at]),
            };
            (self.classes[at], amount)
        })
    }

    /// Whether votes carry weights.
    pub fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }

    /// The items at these places, in this order; one that does not exist comes without votes.
    pub fn select(&self, places: &[usize]) -> Self {
        let mut chosen = Self::new();
        chosen.extend(self, places.iter().copied(), self.is_weighted());
        chosen
    }

    /// Adds items of other counts, all with weights or all without.
    pub(crate) fn extend(
        &mut self,
        from: &Self,
        places: impl Iterator<Item = usize>,
        weighted: bool,
    ) {
        for item in places {
            if weighted {
                let entries = from.entries(item).zip(from.amounts(item));
                self.push_sorted_weighted(entries.map(|((class, n), (_, w))| (class, n, w)));
            } else {
                self.push_sorted(from.entries(item));
            }
        }
    }

    /// The first item with a vote for a class beyond so many.
    pub(crate) fn first_beyond(&self, classes: usize) -> Option<(usize, u16)> {
        let at = self.classes.iter().position(|&class| usize::from(class) >= classes)?;
        let item = self.starts.partition_point(|&start| start <= at).checked_sub(1)?;
        Some((item, self.classes[at]))
    }

    /// The amounts of an item as a row of `classes` numbers.
    pub fn row(&self, item: usize, classes: usize) -> Vec<f64> {
        let mut row = vec![0.0; classes];
        for (class, amount) in self.amounts(item) {
            if let Some(cell) = row.get_mut(class as usize) {
                *cell = amount;
            }
        }
        row
    }

    /// How many votes an item got.
    pub fn votes(&self, item: usize) -> u64 {
        self.counts[self.range(item)].iter().map(|&c| u64::from(c)).sum()
    }

    /// How many votes there are in all.
    pub fn total(&self) -> u64 {
        self.counts.iter().map(|&c| u64::from(c)).sum()
    }
}

/// Entries by class, those of one class added up, without those that have no votes.
fn merged(
    entries: impl Iterator<Item = (u16, u32, f64)>,
) -> Result<Vec<(u16, u32, f64)>, CountsError> {
    let mut all: Vec<(u16, u32, f64)> = Vec::new();
    let mut sorted = true;
    for (class, votes, weight) in entries {
        if !(0.0..=HEAVIEST * f64::from(votes)).contains(&weight) {
            return Err(CountsError::Weight { class, votes, weight });
        }
        if votes > 0 {
            sorted &= all.last().is_none_or(|last| last.0 < class);
            all.push((class, votes, weight));
        }
    }
    if sorted {
        return Ok(all);
    }
    all.sort_by_key(|entry| entry.0);
    let mut one_each: Vec<(u16, u32, f64)> = Vec::with_capacity(all.len());
    for (class, votes, weight) in all {
        match one_each.last_mut().filter(|last| last.0 == class) {
            None => one_each.push((class, votes, weight)),
            Some(last) => {
                last.1 = last.1.checked_add(votes).ok_or(CountsError::TooMany { class })?;
                last.2 += weight;
            }
        }
    }
    Ok(one_each)
}

/// Probabilities of `classes` classes for each item, each row a checked distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct Probabilities {
    classes: usize,
    values: Vec<f64>,
}

impl Probabilities {
    /// No items yet.
    pub fn new(classes: usize) -> Self {
        Self { classes, values: Vec::new() }
    }

    /// Adds an item.
    pub fn push(&mut self, row: &[f64]) -> Result<(), DistributionError> {
        distribution::check(row)?;
        if row.len() != self.classes {
            let (found, classes) = (row.len(), self.classes);
            return Err(DistributionError::Classes { found, classes });
        }
        self.values.extend_from_slice(row);
        Ok(())
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.values.len().checked_div(self.classes).unwrap_or(0)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// How many classes a row has.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The items at these places; those that do not exist are left out.
    pub(crate) fn select(&self, places: &[usize]) -> Self {
        let values = places.iter().flat_map(|&item| self.row(item)).copied().collect();
        Self { classes: self.classes, values }
    }

    /// The probabilities of an item; empty where there is no such item.
    pub fn row(&self, item: usize) -> &[f64] {
        let start = item.saturating_mul(self.classes);
        self.values.get(start..start.saturating_add(self.classes)).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_items() {
        let mut counts = Counts::new();
        counts.push([(0, 3), (2, 1)]).unwrap();
        counts.push([]).unwrap();
        counts.push([(1, 7)]).unwrap();
        assert_eq!(counts.len(), 3);
        assert_eq!(counts.row(0, 3), [3.0, 0.0, 1.0]);
        assert_eq!(counts.entries(1).count(), 0);
        assert_eq!((counts.votes(0), counts.votes(1), counts.total()), (4, 0, 11));
        assert_eq!(counts.entries(9).count(), 0);
        assert_eq!(counts.first_beyond(2), Some((0, 2)));
        assert_eq!(counts.first_beyond(3), None);
    }

    #[test]
    fn entries_of_one_class_are_added_up() {
        let mut counts = Counts::new();
        counts.push([(1, 3), (0, 4), (1, 2), (2, 0)]).unwrap();
        assert_eq!(counts.entries(0).collect::<Vec<_>>(), [(0, 4), (1, 5)]);
        assert_eq!((counts.votes(0), counts.row(0, 3)), (9, vec![4.0, 5.0, 0.0]));
        let many = counts.push([(3, u32::MAX), (3, 1)]);
        assert_eq!(many, Err(CountsError::TooMany { class: 3 }));
        assert_eq!(counts.len(), 1, "what is refused leaves nothing behind");
    }

    #[test]
    fn weights_replace_counts_in_amounts() {
        let mut counts = Counts::new();
        counts.push([(0, 2)]).unwrap();
        counts.push_weighted([(1, 2, 0.5), (1, 1, 0.25)]).unwrap();
        counts.push([(1, 3)]).unwrap();
        let rows: Vec<_> = (0..3).map(|item| counts.row(item, 2)).collect();
        assert_eq!(rows, [[2.0, 0.0], [0.0, 0.75], [0.0, 3.0]]);
        assert_eq!(counts.votes(1), 3);
        for wrong in [f64::NAN, f64::INFINITY, -1.0, f64::MAX] {
            assert!(counts.push_weighted([(0, 1, wrong)]).is_err(), "{wrong}");
        }
        assert!(counts.push_weighted([(0, 0, 1.0)]).is_err(), "a weight without votes");
    }

    #[test]
    fn probabilities_are_checked() {
        let mut rows = Probabilities::new(2);
        assert!(rows.push(&[0.25, 0.75]).is_ok());
        assert!(rows.push(&[0.25, 0.25]).is_err());
        let narrow = rows.push(&[1.0]).unwrap_err();
        assert_eq!(narrow, DistributionError::Classes { found: 1, classes: 2 });
        assert_eq!((rows.len(), rows.row(0), rows.row(1).len()), (1, &[0.25, 0.75][..], 0));
    }
}
