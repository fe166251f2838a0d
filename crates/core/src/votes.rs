//! Single votes, each with its label or set of labels, its annotator, weight and row.

use crate::Counts;

/// One vote on an item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vote<'a> {
    /// Place of the annotator in [`VoteTable::annotators`](crate::VoteTable::annotators), where it is
    /// known who voted.
    pub annotator: Option<u32>,
    /// The classes voted for, ascending: one, but for multi-label votes any number.
    pub labels: &'a [u16],
    /// How much the vote counts; 1 unless the source says otherwise.
    pub weight: f64,
    /// The row of the source it came from, where rows were kept.
    pub row: Option<u64>,
}

impl Vote<'_> {
    /// The class voted for, where it is one.
    pub fn class(&self) -> Option<u16> {
        match self.labels {
            &[class] => Some(class),
            _ => None,
        }
    }
}

/// Single votes, grouped by item, in the order of the source within an item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Votes {
    /// Item i owns the votes `starts[i]..starts[i + 1]`.
    pub(crate) starts: Vec<usize>,
    /// The labels of all votes, one after the other.
    pub(crate) labels: Vec<u16>,
    /// Vote v owns the labels `sets[v]..sets[v + 1]`; empty where every vote has one label.
    pub(crate) sets: Vec<usize>,
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

    /// Where the labels of these votes are.
    fn labels_of(&self, votes: std::ops::Range<usize>) -> std::ops::Range<usize> {
        match (self.sets.get(votes.start), self.sets.get(votes.end)) {
            (Some(&start), Some(&end)) => start..end,
            _ => votes,
        }
    }

    /// The votes on an item.
    pub fn of(&self, item: usize) -> impl ExactSizeIterator<Item = Vote<'_>> + '_ {
        self.range(item).map(move |at| Vote {
            annotator: self.annotators.get(at).copied().filter(|&a| a != NOBODY),
            labels: &self.labels[self.labels_of(at..at + 1)],
            weight: self.weights.get(at).copied().unwrap_or(1.0),
            row: self.rows.get(at).copied(),
        })
    }

    /// The votes on the items at these places.
    pub fn select(&self, places: &[usize]) -> Self {
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
        let labels: Vec<_> = ranges.iter().map(|range| self.labels_of(range.clone())).collect();
        let mut sets = Vec::new();
        if !self.sets.is_empty() {
            sets.push(0);
            for vote in ranges.iter().cloned().flatten() {
                sets.push(sets[sets.len() - 1] + self.labels_of(vote..vote + 1).len());
            }
        }
        Self {
            starts,
            labels: pick(&self.labels, &labels),
            sets: sets_of_several(sets),
            annotators: pick(&self.annotators, &ranges),
            weights: pick(&self.weights, &ranges),
            rows: pick(&self.rows, &ranges),
        }
    }

    /// How many votes there are.
    pub fn len(&self) -> usize {
        match self.sets.len() {
            0 => self.labels.len(),
            ends => ends - 1,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first item with a vote for no class or several, and for how many.
    pub(crate) fn first_set(&self) -> Option<(usize, usize)> {
        let size = |at: usize| self.sets[at + 1] - self.sets[at];
        let at = (0..self.sets.len().saturating_sub(1)).find(|&at| size(at) != 1)?;
        let item = self.starts.partition_point(|&start| start <= at).checked_sub(1)?;
        Some((item, size(at)))
    }

    /// Whether votes carry weights.
    pub fn is_weighted(&self) -> bool {
        !self.weights.is_empty()
    }

    /// Votes per item and class. A vote for several classes counts for each of them.
    pub fn count(&self, classes: usize) -> Counts {
        let mut counts = Counts::new();
        let mut tally = vec![(0u32, 0f64); classes];
        let mut seen: Vec<u16> = Vec::new();
        for item in 0..self.starts.len().saturating_sub(1) {
            for vote in self.of(item) {
                for &class in vote.labels {
                    let cell = &mut tally[class as usize];
                    if cell.0 == 0 {
                        seen.push(class);
                    }
                    cell.0 += 1;
                    cell.1 += vote.weight;
                }
            }
            seen.sort_unstable();
            let entries = seen.drain(..).map(|class| {
                let (count, weight) = std::mem::take(&mut tally[class as usize]);
                (class, count, weight)
            });
            if self.is_weighted() {
                counts.push_sorted_weighted(entries);
            } else {
                counts.push_sorted(entries.map(|(class, count, _)| (class, count)));
            }
        }
        counts
    }
}

/// The ends of sets, which are only kept where a set is not one label.
pub(crate) fn sets_of_several(sets: Vec<usize>) -> Vec<usize> {
    match sets.windows(2).all(|ends| ends[1] - ends[0] == 1) {
        true => Vec::new(),
        false => sets,
    }
}

#[cfg(test)]
mod tests {
    use crate::{Ballots, Keep, Scale, TableBuilder, VoteTable};

    fn sets(votes: &[(&str, &str, &[&str])]) -> VoteTable {
        let mut builder = TableBuilder::new(Keep::Votes);
        builder.set_scale(Scale::MultiLabel);
        for (row, (item, who, labels)) in (1..).zip(votes) {
            builder.vote_set(item, Some(who), labels, 1.0, row).unwrap();
        }
        builder.finish().unwrap()
    }

    #[test]
    fn a_vote_owns_its_labels_and_keeps_its_annotator() {
        let table = sets(&[
            ("a", "ann", &["joy"]),
            ("b", "ann", &["fear", "anger"]),
            ("a", "ben", &[]),
            ("b", "cem", &["joy", "joy"]),
            ("a", "cem", &["joy", "anger"]),
        ]);
        assert_eq!(table.classes().names(), ["anger", "fear", "joy"]);
        let read = |table: &VoteTable, item| {
            let Ballots::Votes(votes) = table.ballots() else { panic!("votes") };
            let read = votes.of(item).map(|vote| (vote.annotator.unwrap(), vote.labels.to_vec()));
            read.collect::<Vec<_>>()
        };
        let (a, b) =
            (vec![(0, vec![2]), (1, vec![]), (2, vec![0, 2])], vec![(0, vec![0, 1]), (2, vec![2])]);
        assert_eq!((read(&table, 0), read(&table, 1)), (a.clone(), b.clone()));
        let turned = table.select(&[1, 0]);
        assert_eq!((read(&turned, 0), read(&turned, 1)), (b, a));
        assert_eq!(turned.digest(), table.digest());
        let Ballots::Votes(votes) = table.ballots() else { panic!("votes") };
        assert_eq!((votes.len(), votes.first_set()), (5, Some((0, 0))));
        assert_eq!(votes.count(3).row(1, 3), [1.0, 1.0, 1.0]);
        // Shares are of one-label votes alone.
        assert_eq!((table.counts(), table.distributions()), (None, vec![None, None]));
    }

    #[test]
    fn a_digest_depends_on_what_belongs_to_one_vote() {
        let together = sets(&[("a", "ann", &["x", "y"]), ("a", "ann", &[])]);
        let apart = sets(&[("a", "ann", &["x"]), ("a", "ann", &["y"])]);
        assert_ne!(together.digest(), apart.digest());
        let other_order = sets(&[("a", "ann", &[]), ("a", "ann", &["y", "x"])]);
        assert_eq!(together.digest(), other_order.digest());
        assert_ne!(apart.clone().with_scale(Scale::Nominal).unwrap().digest(), apart.digest());
    }
}
