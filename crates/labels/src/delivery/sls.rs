//! Stochastic label sampling: one label a draw, y ~ Categorical(p_i), anew in every epoch or held
//! for `every` epochs.
//!
//! Draw d = t / `every` of an example takes word d mod 4 of one block of Philox (see
//! [`streams`](crate::streams)), so that four draws cost one block. From m_i counted votes, the
//! word becomes a whole number r below m_i, each equally likely (Lemire 2019), and the label is the
//! r-th vote in class order: exact, without a rounded probability anywhere. From probabilities or
//! weights, u is the word's upper 53 bits and the label the first class whose running sum exceeds
//! u times the total, `np.searchsorted(np.cumsum(p), u * np.cumsum(p)[-1], side="right")`.
//!
//! Memory: 8 bytes per item, and 1 byte per vote (2 above 256 classes). Where there are more than 64
//! votes per item on average, 10 bytes for each class that got votes instead. From probabilities, 8
//! bytes for each of up to 32 classes; from more of them, or from weights, 8 bytes per item and 10
//! for each class with a share.

use std::sync::Arc;

use dissensus_core::Scale;

use super::draws::Sampled;
use super::{Delivers, DeliveryEntry, Kind, method};
use crate::pool::{Cumulative, List, Rows};
use crate::{LabelError, Setting, Source};

pub(super) const ENTRY: DeliveryEntry = DeliveryEntry {
    name: "sls",
    title: "drawn labels",
    description: "stochastic label sampling: a label drawn anew from the annotator distribution",
    formula: "one label drawn from p_i at the start of epoch t, held for `every` epochs",
    delivers: Delivers::Labels,
    scales: Scale::ONE_LABEL,
    needs_counts: false,
    settings: &[EVERY],
    make: |given| {
        let every = given.next(|&every| every > 0)?;
        Ok(method(move |source, seed| sampled(source, seed, every)))
    },
};

pub(super) const EVERY: Setting = Setting {
    name: "every",
    description: "how many epochs a draw is held",
    default: "1",
    expected: "a whole number of epochs, at least 1",
    came_later: false,
};

/// Up to this many votes per item, they are listed one by one, which is fastest.
const LISTED: u64 = 64;

/// Labels drawn from the distributions of a source.
pub(super) fn sampled(source: &Source<'_>, seed: u64, every: u64) -> Result<Kind, LabelError> {
    let keys = Arc::clone(source.keys());
    let votes: u128 = (0..source.len()).map(|place| u128::from(source.votes(place))).sum();
    let listed = votes <= u128::from(LISTED) * source.len() as u128;
    let narrow = source.classes().len() <= 256;
    let few = source.classes().len() <= Rows::MOST;
    Ok(Kind::Drawn(match (source.is_counted(), listed, narrow) {
        (false, ..) if few && source.is_shares() => {
            Box::new(Sampled { pool: Rows::of_shares(source), keys, seed, every })
        }
        (false, ..) => Box::new(Sampled { pool: Cumulative::of_shares(source), keys, seed, every }),
        (true, false, _) => {
            Box::new(Sampled { pool: Cumulative::of_counts(source), keys, seed, every })
        }
        (true, true, true) => {
            let pool = List::<u8>::new(source, |_, _| ())?;
            Box::new(Sampled { pool, keys, seed, every })
        }
        (true, true, false) => {
            let pool = List::<u16>::new(source, |_, _| ())?;
            Box::new(Sampled { pool, keys, seed, every })
        }
    }))
}

#[cfg(test)]
mod tests {
    use crate::streams::SLS;
    use crate::testing::{counted, shares};
    use crate::{Delivery, Source, example_key};
    use dissensus_core::philox::block;

    fn labels(text: &str, rows: &[Vec<u32>], epochs: u64) -> Vec<Vec<u16>> {
        let table = counted(rows);
        let delivery: Delivery = text.parse().unwrap();
        let prepared = delivery.prepare(&Source::new(&table).unwrap(), 11).unwrap();
        let mut out = vec![0; rows.len()];
        let epoch = |t| {
            prepared.epoch(t, &mut out).unwrap();
            out.clone()
        };
        (0..epochs).map(epoch).collect()
    }

    #[test]
    fn a_draw_is_held() {
        let rows = vec![vec![1, 1, 1, 1]; 40];
        let (each, fifth) = (labels("sls", &rows, 10), labels("sls:every=5", &rows, 50));
        for (t, labels) in fifth.iter().enumerate() {
            assert_eq!(labels, &each[t / 5], "epoch {t}");
        }
        assert!((1..10).all(|t| each[t] != each[t - 1]));
    }

    /// Pearson's X² of n = 20,000 draws from counts (1, 2, 3, 4) has about 3 degrees of freedom:
    /// mean 3, sd √6, and it exceeds 21.1 once in 10,000 samples. The draw is fixed by its seed.
    #[test]
    fn frequencies_fit() {
        let (n, counts) = (20_000u32, [1, 2, 3, 4]);
        let check = |seen: [u32; 4], from: &str| {
            let cell = |(seen, votes): (u32, u32)| {
                let expected = f64::from(n * votes) / 10.0;
                (f64::from(seen) - expected).powi(2) / expected
            };
            let x2: f64 = seen.into_iter().zip(counts).map(cell).sum();
            assert!(x2 < 21.1, "{from}: {x2} for {seen:?}");
        };
        // Over examples in one epoch, and over epochs of one example.
        let mut seen = [0; 4];
        let across = labels("sls", &vec![counts.to_vec(); n as usize], 1);
        across[0].iter().for_each(|&label| seen[label as usize] += 1);
        check(seen, "examples");
        let along = |table, from| {
            let sls: Delivery = "sls".parse().unwrap();
            let prepared = sls.prepare(&Source::new(&table).unwrap(), 5).unwrap();
            let mut seen = [0; 4];
            let draws = (0..u64::from(n)).map(|t| prepared.label(t, 0).unwrap());
            draws.for_each(|label| seen[label as usize] += 1);
            check(seen, from);
            seen
        };
        let listed = along(counted(&[counts.to_vec()]), "epochs");
        along(shares(&[vec![0.1, 0.2, 0.3, 0.4]]), "probabilities");
        // A hundred times the votes are not listed but summed; the labels are the same.
        assert_eq!(listed, along(counted(&[counts.map(|c| 100 * c).to_vec()]), "many votes"));
    }

    /// 60,000 classes of 2³² − 1 votes each: one word in about 90,000 would favour some votes, and
    /// the same word of the next block takes its place.
    #[test]
    fn unfair_words_are_replaced() {
        let table = counted(&[vec![u32::MAX; 60_000]]);
        let sls: Delivery = "sls".parse().unwrap();
        let prepared = sls.prepare(&Source::new(&table).unwrap(), 2).unwrap();
        let votes = 60_000 * u64::from(u32::MAX);
        let mut replaced = 0;
        for t in 0..400_000u64 {
            let word = |n| block([2, SLS], [n, example_key("i0"), t / 4, 0])[(t % 4) as usize];
            let product = |n| u128::from(word(n)) * u128::from(votes);
            let fair = |n: &u64| product(*n) as u64 >= votes.wrapping_neg() % votes;
            let n = (0..).find(fair).unwrap();
            replaced += n;
            let vote = (product(n) >> 64) as u64;
            assert_eq!(u64::from(prepared.label(t, 0).unwrap()), vote / u64::from(u32::MAX));
        }
        assert!(replaced > 0);
    }
}
