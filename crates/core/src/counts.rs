//! What the votes on each item amount to, without who cast them.

use crate::distribution::{self, DistributionError};

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

    /// Adds an item with these (class, votes) entries, classes ascending, votes above 0.
    pub fn push(&mut self, entries: impl IntoIterator<Item = (u16, u32)>) {
        for (class, count) in entries {
            self.classes.push(class);
            self.counts.push(count);
        }
        self.close_item();
    }

    /// As [`push`](Self::push) with the summed weight of each entry. Use one of the two throughout.
    pub fn push_weighted(&mut self, entries: impl IntoIterator<Item = (u16, u32, f64)>) {
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
    pub fn entries(&self, item: usize) -> impl Iterator<Item = (u16, u32)> + '_ {
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
        for &item in places {
            if self.is_weighted() {
                let entries = self.entries(item).zip(self.amounts(item));
                chosen.push_weighted(entries.map(|((class, n), (_, w))| (class, n, w)));
            } else {
                chosen.push(self.entries(item));
            }
        }
        chosen
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
            return Err(DistributionError::Empty);
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
        counts.push([(0, 3), (2, 1)]);
        counts.push([]);
        counts.push([(1, 7)]);
        assert_eq!(counts.len(), 3);
        assert_eq!(counts.row(0, 3), [3.0, 0.0, 1.0]);
        assert_eq!(counts.entries(1).count(), 0);
        assert_eq!((counts.votes(0), counts.votes(1), counts.total()), (4, 0, 11));
        assert_eq!(counts.entries(9).count(), 0);
    }

    #[test]
    fn weights_replace_counts_in_amounts() {
        let mut counts = Counts::new();
        counts.push_weighted([(1, 2, 0.5)]);
        assert_eq!(counts.row(0, 2), [0.0, 0.5]);
        assert_eq!(counts.votes(0), 2);
    }

    #[test]
    fn probabilities_are_checked() {
        let mut rows = Probabilities::new(2);
        assert!(rows.push(&[0.25, 0.75]).is_ok());
        assert!(rows.push(&[0.25, 0.25]).is_err());
        assert!(rows.push(&[1.0]).is_err());
        assert_eq!((rows.len(), rows.row(0), rows.row(1).len()), (1, &[0.25, 0.75][..], 0));
    }
}
