//! Fewer votes, drawn from those there are: what k votes per item would have looked like.
//!
//! * [`with_replacement`]: Multinomial(k, p_i). What a study of sparse votes does where only
//!   the distribution counts.
//! * [`without_replacement`]: k of the votes that were cast (multivariate hypergeometric). What
//!   stopping after k annotators would have given.
//!
//! A draw is a pure function of (seed, k, id): it does not depend on the other items or their
//! order, and each k is drawn on its own, so that 10 votes do not contain the 5. In numpy, with the
//! lines of [`streams`]:
//!
//! ```python
//! def with_replacement(counts, id, seed, k):
//!     raw = philox(seed, b"sparse", [0, example_key(id), k, 0])
//!     votes = np.repeat(np.arange(len(counts)), counts)
//!     return np.bincount([votes[below(raw, len(votes))] for _ in range(k)], minlength=len(counts))
//!     # from probabilities: np.searchsorted(cdf, (raw.random_raw() >> 11) / 2**53 * cdf[-1], "right")
//!
//! def without_replacement(counts, id, seed, k):
//!     raw, left = philox(seed, b"subset", [0, example_key(id), k, 0]), counts.copy()
//!     for _ in range(k):
//!         left[np.searchsorted(np.cumsum(left), below(raw, int(left.sum())), "right")] -= 1
//!     return counts - left
//! ```

use dissensus_core::philox::Stream;
use dissensus_core::{Counts, VoteTable};
use rayon::prelude::*;

use crate::pool::{Cumulative, Pick};
use crate::{LabelError, Named, Setting, Source, streams};

/// The number of votes to draw, as the command line and the specs show it.
pub const VOTES: Setting = Setting {
    name: "k",
    description: "how many votes per item to draw",
    default: "5",
    expected: "a whole number of votes, at least 1",
    came_later: false,
};

/// Draws k votes per item with replacement, from counts, weights or probabilities.
pub fn with_replacement(source: &Source<'_>, k: u32, seed: u64) -> Result<VoteTable, LabelError> {
    check("sparse draws", k)?;
    if source.is_counted() {
        return draw(source, Cumulative::of_counts(source), k, seed);
    }
    draw(source, Cumulative::of_shares(source), k, seed)
}

fn draw(source: &Source<'_>, pool: impl Pick, k: u32, seed: u64) -> Result<VoteTable, LabelError> {
    table(source, streams::SPARSE, k, seed, |place, stream, tally| {
        for _ in 0..k {
            let word = stream.word();
            tally[pool.pick(place, word, || stream.word()) as usize] += 1;
        }
    })
}

/// Draws k of the votes that an item got. Items with fewer are an error that names them.
pub fn without_replacement(
    source: &Source<'_>,
    k: u32,
    seed: u64,
) -> Result<VoteTable, LabelError> {
    check("draws without replacement", k)?;
    source.require_counts("a draw without replacement", "a draw with replacement")?;
    let few = (0..source.len()).filter(|&place| source.votes(place) < u64::from(k));
    if let Some(items) = Named::of(source.items(), few) {
        return Err(LabelError::TooFewVotes { k, items });
    }
    table(source, streams::SUBSET, k, seed, |place, stream, tally| {
        let mut left: Vec<(u16, u32)> = source.entries(place).collect();
        let mut votes = source.votes(place);
        for _ in 0..k {
            let mut at = stream.below(votes);
            votes -= 1;
            for (class, left) in &mut left {
                if at < u64::from(*left) {
                    *left -= 1;
                    tally[*class as usize] += 1;
                    break;
                }
                at -= u64::from(*left);
            }
        }
    })
}

fn check(of: &'static str, k: u32) -> Result<(), LabelError> {
    let Setting { name, expected, .. } = VOTES;
    match k {
        0 => Err(LabelError::BadSetting { of, name, value: k.to_string(), expected }),
        _ => Ok(()),
    }
}

const ITEMS_A_TASK: usize = 4096;

/// A table of counts that `fill` puts into a row of zeros, item by item.
fn table(
    source: &Source<'_>,
    stream: u64,
    k: u32,
    seed: u64,
    fill: impl Fn(usize, &mut Stream, &mut [u32]) + Sync,
) -> Result<VoteTable, LabelError> {
    let each = |task: usize| {
        let places = task * ITEMS_A_TASK..((task + 1) * ITEMS_A_TASK).min(source.len());
        let mut tally = vec![0; source.classes().len()];
        let (mut entries, mut ends) = (Vec::<(u16, u32)>::new(), Vec::with_capacity(places.len()));
        for place in places {
            tally.fill(0);
            let example = [source.keys()[place], u64::from(k), 0];
            fill(place, &mut Stream::new([seed, stream], example), &mut tally);
            entries.extend((0u16..).zip(tally.iter().copied()).filter(|entry| entry.1 > 0));
            ends.push(entries.len());
        }
        (entries, ends)
    };
    let tasks = 0..source.len().div_ceil(ITEMS_A_TASK);
    let drawn: Vec<_> = tasks.into_par_iter().map(each).collect();
    let mut counts = Counts::new();
    for (entries, ends) in drawn {
        let mut start = 0;
        for end in ends {
            counts.push(entries[start..end].iter().copied())?;
            start = end;
        }
    }
    Ok(VoteTable::from_counts(source.classes().clone(), source.items().clone(), counts)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{counted, shares, weighted};

    fn row(table: &VoteTable, item: usize) -> Vec<f64> {
        table.counts().unwrap().row(item, table.classes().len())
    }

    /// Over n items, the count of class k has the mean n·k·p and the variance n·k·p(1 − p), less
    /// by (m − k)/(m − 1) without replacement; 5 sd are allowed.
    #[test]
    fn counts_have_their_moments() {
        let (n, k, votes, p) = (4000, 5, 10.0, [0.1, 0.6, 0.3]);
        let table = counted(&vec![vec![1, 6, 3]; n]);
        let source = Source::new(&table).unwrap();
        let drawn = with_replacement(&source, k, 1).unwrap();
        let subset = without_replacement(&source, k, 1).unwrap();
        for (table, shrink) in [(&drawn, 1.0), (&subset, (votes - 5.0) / (votes - 1.0))] {
            let mut sums = [0.0; 3];
            for item in 0..n {
                let row = row(table, item);
                assert_eq!(row.iter().sum::<f64>(), 5.0);
                sums.iter_mut().zip(row).for_each(|(sum, votes)| *sum += votes);
            }
            for (sum, p) in sums.into_iter().zip(p) {
                let (mean, all) = (n as f64 * 5.0 * p, n as f64 * 5.0 * p * (1.0 - p));
                assert!((sum - mean).abs() < 5.0 * (shrink * all).sqrt(), "{sum} {mean}");
            }
        }
        let most = (0..n).map(|item| row(&subset, item)[0]).fold(0.0, f64::max);
        assert_eq!(most, 1.0, "a vote cannot be drawn twice");
        assert!((0..n).any(|item| row(&drawn, item)[0] > 1.0));
    }

    #[test]
    fn all_votes_are_the_votes_themselves() {
        let table = counted(&[vec![2, 0, 3], vec![0, 5, 0]]);
        let source = Source::new(&table).unwrap();
        let all = without_replacement(&source, 5, 9).unwrap();
        assert_eq!(all.counts(), table.counts());
        assert_eq!((all.classes(), all.items()), (table.classes(), table.items()));
    }

    /// Each k is drawn on its own, and a draw belongs to the item wherever it stands.
    #[test]
    fn draws_belong_to_seed_k_and_item() {
        let rows: Vec<Vec<u32>> = (0..60).map(|i| vec![20 + i, 30, 40]).collect();
        let table = counted(&rows);
        let source = Source::new(&table).unwrap();
        let order: Vec<usize> = (0..60).rev().step_by(2).collect();
        let part = source.select(&order).unwrap();
        for draw in [with_replacement, without_replacement] {
            let (all, some) = (draw(&source, 25, 3).unwrap(), draw(&part, 25, 3).unwrap());
            for (at, &place) in order.iter().enumerate() {
                assert_eq!(row(&some, at), row(&all, place));
            }
            assert_ne!(all, draw(&source, 25, 4).unwrap());
            let fewer = draw(&source, 10, 3).unwrap();
            let nested =
                |i: &usize| row(&fewer, *i).iter().zip(row(&all, *i)).all(|(a, b)| *a <= b);
            assert!((0..60).filter(nested).count() < 60);
        }
    }

    #[test]
    fn what_cannot_be_drawn() {
        let table = counted(&[vec![3, 3], vec![1, 2], vec![2, 0]]);
        let source = Source::new(&table).unwrap();
        let error = without_replacement(&source, 5, 0).unwrap_err().to_string();
        let expected = "2 items with fewer than 5 votes: \"i1\", \"i2\"; draw fewer, or draw with \
                        replacement";
        assert_eq!(error, expected);
        assert!(with_replacement(&source, 0, 0).unwrap_err().to_string().contains("at least 1"));
        for table in [shares(&[vec![0.5, 0.5]]), weighted(&[&[("x", 1.0), ("y", 0.5)]])] {
            let source = Source::new(&table).unwrap();
            let error = without_replacement(&source, 1, 0).unwrap_err().to_string();
            assert!(error.ends_with("use a draw with replacement"), "{error}");
            assert_eq!(with_replacement(&source, 3, 0).unwrap().counts().unwrap().total(), 3);
        }
    }
}
