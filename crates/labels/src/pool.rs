//! What labels are drawn from: the votes of every item, laid out for one purpose each.
//!
//! * [`List`]: one label after another, one or two bytes per vote. Any vote is one memory access.
//! * [`Cumulative`]: running sums over the classes that got votes, of counts (exact) or of shares.
//! * [`Rows`]: running sums over all classes, of shares, where there are few classes.
//!
//! All turn a random word into a label by the inverse of the distribution function: the r-th vote
//! in class order for r below m, or the first class whose running sum exceeds u · total.

mod list;
mod sums;

pub(crate) use list::{Label, List};
pub(crate) use sums::{Cumulative, Rows};

/// Something that turns a random word into a label of the item at a place.
pub(crate) trait Pick: Send + Sync {
    fn pick(&self, place: usize, word: u64, again: impl FnMut() -> u64) -> u16;

    /// Every vote one by one, where they are kept so: where each item's begin, and the votes.
    fn listed(&self) -> Option<(&[usize], Vec<u16>)> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;
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
