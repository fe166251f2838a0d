//! Running sums over classes: of the classes that got something, or of all of them.

use std::ops::Range;

use dissensus_core::philox::unit;
use rayon::prelude::*;

use super::Pick;
use crate::Source;
use crate::words::below;

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
