//! The vote table: items, classes, annotators, and what is known of their votes.

use std::borrow::Cow;

use crate::{ClassSet, Counts, Digest, Distribution, Ids, Probabilities};

/// One vote on an item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vote {
    /// Place of the annotator in [`VoteTable::annotators`], where it is known who voted.
    pub annotator: Option<u32>,
    /// The class voted for.
    pub class: u16,
    /// How much the vote counts; 1 unless the source says otherwise.
    pub weight: f64,
    /// The row of the source it came from, where rows were kept.
    pub row: Option<u64>,
}

/// Single votes, grouped by item, in the order of the source within an item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Votes {
    pub(crate) starts: Vec<usize>,
    pub(crate) classes: Vec<u16>,
    /// `u32::MAX` where unknown; empty where no vote names its annotator.
    pub(crate) annotators: Vec<u32>,
    /// Empty where every weight is 1.
    pub(crate) weights: Vec<f64>,
    /// Empty where rows were not kept.
    pub(crate) rows: Vec<u64>,
}

/// Stands for "nobody knows who" in [`Votes`].
pub(crate) const NOBODY: u32 = u32::MAX;

impl Votes {
    fn range(&self, item: usize) -> std::ops::Range<usize> {
        match (self.starts.get(item), self.starts.get(item + 1)) {
            (Some(&start), Some(&end)) => start..end,
            _ => 0..0,
        }
    }

    /// The votes on an item.
    pub fn of(&self, item: usize) -> impl ExactSizeIterator<Item = Vote> + '_ {
        self.range(item).map(move |at| Vote {
            annotator: self.annotators.get(at).copied().filter(|&a| a != NOBODY),
            class: self.classes[at],
            weight: self.weights.get(at).copied().unwrap_or(1.0),
            row: self.rows.get(at).copied(),
        })
    }

    /// The votes on the items at these places.
    fn select(&self, places: &[usize]) -> Self {
        fn pick<T: Copy>(from: &[T], ranges: &[std::ops::Range<usize>]) -> Vec<T> {
            ranges
                .iter()
                .flat_map(|range| from.get(range.clone()).unwrap_or(&[]))
                .copied()
                .collect()
        }
        let ranges: Vec<_> = places.iter().map(|&item| self.range(item)).collect();
        let mut starts = vec![0];
        starts.extend(ranges.iter().scan(0, |end, range| {
            *end += range.len();
            Some(*end)
        }));
        Self {
            starts,
            classes: pick(&self.classes, &ranges),
            annotators: pick(&self.annotators, &ranges),
            weights: pick(&self.weights, &ranges),
            rows: pick(&self.rows, &ranges),
        }
    }

    /// How many votes there are.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// Whether votes carry weights.
    pub fn is_weighted(&self) -> bool {
        !self.weights.is_empty()
    }

    /// Votes per item and class.
    pub fn count(&self, classes: usize) -> Counts {
        let mut counts = Counts::new();
        let mut tally = vec![(0u32, 0f64); classes];
        let mut seen: Vec<u16> = Vec::new();
        for item in 0..self.starts.len().saturating_sub(1) {
            for vote in self.of(item) {
                let cell = &mut tally[vote.class as usize];
                if cell.0 == 0 {
                    seen.push(vote.class);
                }
                cell.0 += 1;
                cell.1 += vote.weight;
            }
            seen.sort_unstable();
            let entries = seen.drain(..).map(|class| {
                let (count, weight) = std::mem::take(&mut tally[class as usize]);
                (class, count, weight)
            });
            if self.is_weighted() {
                counts.push_weighted(entries);
            } else {
                counts.push(entries.map(|(class, count, _)| (class, count)));
            }
        }
        counts
    }
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
    /// A table of counts. Missing rows count as items without votes; classes beyond the set are
    /// the caller's error and are left out of every result.
    pub fn from_counts(classes: ClassSet, items: Ids, mut counts: Counts) -> Self {
        while counts.len() < items.len() {
            counts.push([]);
        }
        Self { classes, items, annotators: Ids::default(), ballots: Ballots::Counts(counts) }
    }

    /// A table of probabilities, one row per item.
    pub fn from_probabilities(classes: ClassSet, items: Ids, rows: Probabilities) -> Self {
        Self { classes, items, annotators: Ids::default(), ballots: Ballots::Probabilities(rows) }
    }

    /// The items at these places, in this order, with all that is known of their votes. A place
    /// that does not exist is left out.
    pub fn select(&self, places: &[usize]) -> Self {
        let places: Vec<usize> = places.iter().copied().filter(|&at| at < self.len()).collect();
        let ballots = match &self.ballots {
            Ballots::Votes(votes) => Ballots::Votes(votes.select(&places)),
            Ballots::Counts(counts) => Ballots::Counts(counts.select(&places)),
            Ballots::Probabilities(rows) => Ballots::Probabilities(rows.select(&places)),
        };
        let (classes, annotators) = (self.classes.clone(), self.annotators.clone());
        Self { classes, items: self.items.select(places), annotators, ballots }
    }

    /// The same items with the counts of their votes, without who voted; a table of probabilities as it is.
    pub fn without_voters(&self) -> Self {
        match self.counts() {
            Some(counts) => {
                let (classes, items) = (self.classes.clone(), self.items.clone());
                Self::from_counts(classes, items, counts.into_owned())
            }
            None => self.clone(),
        }
    }

    /// The classes.
    pub fn classes(&self) -> &ClassSet {
        &self.classes
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

    /// Votes per item and class; `None` where only probabilities are known.
    pub fn counts(&self) -> Option<Cow<'_, Counts>> {
        match &self.ballots {
            Ballots::Votes(votes) => Some(Cow::Owned(votes.count(self.classes.len()))),
            Ballots::Counts(counts) => Some(Cow::Borrowed(counts)),
            Ballots::Probabilities(_) => None,
        }
    }

    /// The annotator distribution of every item, in order; `None` for an item without votes.
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
        let of = |item: usize| votes.of(item).map(|v| (v.class, v.weight)).collect::<Vec<_>>();
        assert_eq!((of(0), of(1)), (vec![(0, 0.5)], vec![(0, 1.0), (1, 1.0)]));
        let (all, some) = (table.distributions(), chosen.distributions());
        assert_eq!((&some[0], &some[1]), (&all[2], &all[0]));
        let counts = VoteTable::from_counts(
            table.classes().clone(),
            table.items().clone(),
            table.counts().unwrap().into_owned(),
        );
        assert_eq!(counts.select(&[2, 0]).distributions(), some);
    }
}
