//! What labels are drawn from: the votes of every item, laid out for one purpose each.
//!
//! * [`List`]: one label after another, one or two bytes a vote. Any vote is one memory access.
//! * [`Cumulative`]: running sums over the classes that got votes, of counts (exact) or of shares.
//! * [`Rows`]: running sums over all classes, of shares, where there are few classes.
//!
//! Both turn a random word into a label by the inverse of the distribution function: the r-th vote
//! in class order for r below m, or the first class whose running sum exceeds u · total.

use std::ops::Range;

use dissensus_core::philox::unit;
use rayon::prelude::*;

use crate::parts::{parts, starts};
use crate::words::below;
use crate::{LabelError, Source};

/// A class as it is stored: one byte where there are at most 256 classes.
pub(crate) trait Label: Copy + Default + Send + Sync + 'static {
    fn from_class(class: u16) -> Self;
    fn class(self) -> u16;
}

impl Label for u8 {
    fn from_class(class: u16) -> Self {
        class as u8
    }
    #[inline(always)]
    fn class(self) -> u16 {
        u16::from(self)
    }
}

impl Label for u16 {
    fn from_class(class: u16) -> Self {
        class
    }
    #[inline(always)]
    fn class(self) -> u16 {
        self
    }
}

/// Something that turns a random word into a label of the item at a place.
pub(crate) trait Pick: Send + Sync {
    fn pick(&self, place: usize, word: u64, again: impl FnMut() -> u64) -> u16;
}

const ITEMS_A_TASK: usize = 4096;

/// Every vote of every item, in class order until somebody shuffles them.
pub(crate) struct List<C> {
    starts: Vec<usize>,
    labels: Vec<C>,
}

impl<C: Label> List<C> {
    /// The votes of a source that counts them, each item's put into order by `arrange`.
    pub(crate) fn new(
        source: &Source<'_>,
        arrange: impl Fn(usize, &mut [C]) + Sync,
    ) -> Result<Self, LabelError> {
        let too_many = LabelError::TooMany { what: "votes" };
        let sizes = (0..source.len()).map(|place| source.votes(place) as usize);
        let starts = starts(sizes).ok_or_else(|| too_many.clone())?;
        let total = starts.last().copied().unwrap_or(0);
        let mut labels: Vec<C> = Vec::new();
        labels.try_reserve_exact(total).map_err(|_| too_many)?;
        labels.resize(total, C::default());
        let tasks: Vec<&[usize]> = starts[..source.len()].chunks(ITEMS_A_TASK).collect();
        let ends = (1..=tasks.len()).map(|task| (task * ITEMS_A_TASK).min(source.len()));
        let sizes = ends.zip(&tasks).map(|(end, own)| starts[end] - own[0]);
        let parts = parts(&mut labels, sizes);
        parts.into_par_iter().enumerate().for_each(|(task, part)| {
            let first = task * ITEMS_A_TASK;
            let places = first..(first + ITEMS_A_TASK).min(source.len());
            for place in places {
                let own = starts[place] - starts[first]..starts[place + 1] - starts[first];
                let (own, mut at) = (&mut part[own], 0);
                for (class, votes) in source.entries(place) {
                    own[at..at + votes as usize].fill(C::from_class(class));
                    at += votes as usize;
                }
                arrange(place, own);
            }
        });
        Ok(Self { starts, labels })
    }

    /// The label at a turn that goes round and round the votes of an item.
    #[inline(always)]
    pub(crate) fn turn(&self, place: usize, turn: u64) -> u16 {
        let (start, end) = (self.starts[place], self.starts[place + 1]);
        let votes = (end - start) as u64;
        let turn = if turn < votes { turn } else { turn % votes };
        self.labels[start + turn as usize].class()
    }
}

impl<C: Label> Pick for List<C> {
    #[inline(always)]
    fn pick(&self, place: usize, word: u64, again: impl FnMut() -> u64) -> u16 {
        let (start, end) = (self.starts[place], self.starts[place + 1]);
        self.labels[start + below(word, (end - start) as u64, again) as usize].class()
    }
}

/// Running sums over the classes that got something.
pub(crate) struct Cumulative<T> {
    starts: Vec<usize>,
    classes: Vec<u16>,
    sums: Vec<T>,
}

impl Cumulative<u64> {
    /// Of the counts of a source that has them.
    pub(crate) fn of_counts(source: &Source<'_>) -> Self {
        Self::new(source.len(), |place, out| {
            let mut sum = 0;
            out.extend(source.entries(place).map(|(class, votes)| {
                sum += u64::from(votes);
                (class, sum)
            }));
        })
    }
}

impl Cumulative<f64> {
    /// Of the shares or weights of any source.
    pub(crate) fn of_shares(source: &Source<'_>) -> Self {
        Self::new(source.len(), |place, out| {
            let mut sum = 0.0;
            source.amounts(place, |class, amount| {
                sum += amount;
                out.push((class, sum));
            });
        })
    }
}

/// Up to this many classes, comparing with all of them is faster than a search.
const FEW: usize = 32;

impl<T: Copy + PartialOrd> Cumulative<T> {
    fn new(items: usize, entries: impl Fn(usize, &mut Vec<(u16, T)>)) -> Self {
        let mut all = Self { starts: vec![0], classes: Vec::new(), sums: Vec::new() };
        let mut buffer = Vec::new();
        for place in 0..items {
            buffer.clear();
            entries(place, &mut buffer);
            all.classes.extend(buffer.iter().map(|e| e.0));
            all.sums.extend(buffer.iter().map(|e| e.1));
            all.starts.push(all.classes.len());
        }
        all
    }

    #[inline(always)]
    pub(crate) fn range(&self, place: usize) -> Range<usize> {
        self.starts[place]..self.starts[place + 1]
    }

    /// The running sums of an item; the last is its total.
    pub(crate) fn sums(&self, place: usize) -> &[T] {
        &self.sums[self.range(place)]
    }

    /// The first class whose sum exceeds this.
    #[inline(always)]
    pub(crate) fn class(&self, place: usize, value: T) -> u16 {
        let range = self.range(place);
        let sums = &self.sums[range.clone()];
        let at = if sums.len() <= FEW {
            sums.iter().map(|sum| usize::from(*sum <= value)).sum()
        } else {
            sums.partition_point(|sum| *sum <= value)
        };
        self.classes[range][at]
    }
}

impl Pick for Cumulative<u64> {
    #[inline(always)]
    fn pick(&self, place: usize, word: u64, again: impl FnMut() -> u64) -> u16 {
        let total = self.sums(place).last().copied().unwrap_or(0);
        self.class(place, below(word, total, again))
    }
}

impl Pick for Cumulative<f64> {
    /// u is below 1 by at least 2⁻⁵³, so that u · total stays below total in f64, too.
    #[inline(always)]
    fn pick(&self, place: usize, word: u64, _: impl FnMut() -> u64) -> u16 {
        let total = self.sums(place).last().copied().unwrap_or(0.0);
        self.class(place, unit(word) * total)
    }
}

/// Running sums of shares over all classes, as many for every item, which needs no branch that
/// depends on the item.
pub(crate) struct Rows {
    classes: usize,
    sums: Vec<f64>,
}

impl Rows {
    /// The most classes that this is made for.
    pub(crate) const MOST: usize = FEW;

    /// Of the shares of any source.
    pub(crate) fn of_shares(source: &Source<'_>) -> Self {
        let classes = source.classes().len().max(1);
        let mut sums = vec![0.0; source.len() * classes];
        let rows = sums.par_chunks_exact_mut(classes).with_min_len(1024).enumerate();
        rows.for_each(|(place, row)| {
            source.amounts(place, |class, amount| row[class as usize] = amount);
            let mut sum = 0.0;
            for cell in row {
                sum += *cell;
                *cell = sum;
            }
        });
        Self { classes, sums }
    }
}

impl Pick for Rows {
    #[inline(always)]
    fn pick(&self, place: usize, word: u64, _: impl FnMut() -> u64) -> u16 {
        let row = &self.sums[place * self.classes..][..self.classes];
        let value = unit(word) * row.last().copied().unwrap_or(0.0);
        row.iter().map(|sum| u16::from(*sum <= value)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{counted, shares};
    use proptest::prelude::*;

    proptest! {
        /// A list and running sums of the same counts are two layouts of one function.
        #[test]
        fn layouts_agree(rows in prop::collection::vec(prop::collection::vec(0u32..5, 3), 1..9), word: u64) {
            let rows: Vec<Vec<u32>> = rows.into_iter().map(|r| vec![r[0], r[1], r[2] + 1]).collect();
            let table = counted(&rows);
            let source = Source::new(&table).unwrap();
            let sums = Cumulative::of_counts(&source);
            let narrow = List::<u8>::new(&source, |_, _| ()).unwrap();
            let wide = List::<u16>::new(&source, |_, _| ()).unwrap();
            for (place, row) in rows.iter().enumerate() {
                let label = sums.pick(place, word, || u64::MAX);
                prop_assert_eq!(label, narrow.pick(place, word, || u64::MAX));
                prop_assert_eq!(label, wide.pick(place, word, || u64::MAX));
                prop_assert!(row[label as usize] > 0);
            }
        }
    }

    /// The largest and smallest words fall to the last and first class that has a share, also
    /// where shares are rounded and do not sum to 1.
    #[test]
    fn ends_of_the_range_fall_to_classes_with_shares() {
        let row = [0.0, 0.333, 0.333, 0.333, 0.0];
        let table = shares(&[row.to_vec()]);
        let source = Source::new(&table).unwrap();
        let (sums, rows) = (Cumulative::of_shares(&source), Rows::of_shares(&source));
        assert_eq!((sums.pick(0, 0, || 0), sums.pick(0, u64::MAX, || 0)), (1, 3));
        for word in (0..=u64::MAX).step_by(usize::MAX / 999) {
            assert_eq!(sums.pick(0, word, || 0), rows.pick(0, word, || 0));
        }
    }

    #[test]
    fn many_classes_are_searched() {
        let table = counted(&[(0..100).map(|c| c % 3).collect::<Vec<u32>>()]);
        let source = Source::new(&table).unwrap();
        let (sums, list) = (Cumulative::of_counts(&source), List::<u8>::new(&source, |_, _| ()));
        let list = list.unwrap();
        for word in (0..99u64).map(|w| w << 57 | w << 50) {
            assert_eq!(sums.pick(0, word, || u64::MAX), list.pick(0, word, || u64::MAX));
        }
    }
}
