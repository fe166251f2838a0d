//! SLS from another example's distribution: one permutation of the distributions across the
//! examples, fixed by the seed, then SLS. A control that breaks the match of example and
//! distribution and keeps everything else: the distributions, and so the marginal of the labels.
//!
//! The permutation depends on the set of examples, not on their order: sorted by key, the j-th
//! example gets the distribution of the j-th example sorted by its random word.
//!
//! ```python
//! keys = np.array([example_key(id) for id in ids], dtype=np.uint64)
//! words = np.array([philox(seed, b"swap", [0, int(k), 0, 0]).random_raw() for k in keys])
//! donor = np.empty(len(ids), int)
//! donor[np.argsort(keys)] = np.argsort(words)  # example i gets the distribution of donor[i]
//! ```

use dissensus_core::{Scale, philox};
use rayon::prelude::*;

use super::{Delivers, DeliveryEntry, method, sls};
use crate::{Source, streams};

pub(super) const ENTRY: DeliveryEntry = DeliveryEntry {
    name: "shuffled_sls",
    title: "drawn labels, shuffled",
    description: "SLS from the distribution of another example, a control",
    formula: "one label drawn from the distribution of the example that stands in for i, held for \
           `every` epochs",
    delivers: Delivers::Labels,
    scales: Scale::ONE_LABEL,
    needs_counts: false,
    settings: &[sls::EVERY],
    make: |given| {
        let every = given.next(|&every| every > 0)?;
        Ok(method(move |source, seed| {
            sls::sampled(&source.with_votes_of(&donors(source, seed))?, seed, every)
        }))
    },
};

/// The place of the example whose distribution each example gets.
pub(super) fn donors(source: &Source<'_>, seed: u64) -> Vec<usize> {
    let keys = source.keys();
    let word = |&key: &u64| philox::block([seed, streams::SWAP], [0, key, 0, 0])[0];
    let sorted = |numbers: Vec<u64>| {
        let mut places: Vec<(u64, usize)> = numbers.into_iter().zip(0..).collect();
        // Ids decide between keys that are the same, which hardly anyone will ever see.
        let name = |place: usize| (keys[place], source.items().name(place));
        places.par_sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| name(a.1).cmp(&name(b.1))));
        places
    };
    let by_key = sorted(keys.to_vec());
    let by_word = sorted(keys.par_iter().map(word).collect());
    let mut donors = vec![0; keys.len()];
    by_key.into_iter().zip(by_word).for_each(|(own, donor)| donors[own.1] = donor.1);
    donors
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Delivery;
    use crate::testing::counted;

    /// The i-th of 50 unanimous examples votes for class i: labels show the permutation itself.
    #[test]
    fn one_permutation_keeps_the_marginals() {
        let rows: Vec<Vec<u32>> =
            (0..50).map(|i| (0..50).map(|k| u32::from(i == k)).collect()).collect();
        let table = counted(&rows);
        let source = Source::new(&table).unwrap();
        let shuffled: Delivery = "shuffled_sls".parse().unwrap();
        let epoch = |seed, t| {
            let mut labels = vec![0; 50];
            shuffled.prepare(&source, seed).unwrap().epoch(t, &mut labels).unwrap();
            labels
        };
        let labels = epoch(3, 0);
        assert_eq!(labels, epoch(3, 77));
        assert_ne!(labels, epoch(4, 0));
        assert!(labels.iter().map(|&l| l as usize).eq(donors(&source, 3)));
        let mut sorted = labels.clone();
        sorted.sort();
        assert!(sorted.into_iter().eq(0..50));
        assert!(labels.iter().zip(0..).filter(|(label, i)| **label == *i).count() < 6);

        // In another order of the items, everyone keeps their partner.
        let order: Vec<usize> = (0..50).map(|i| i * 7 % 50).collect();
        let turned = shuffled.prepare(&source.select(&order).unwrap(), 3).unwrap();
        for (at, &place) in order.iter().enumerate() {
            assert_eq!(turned.label(0, at).unwrap(), labels[place]);
        }
    }
}
