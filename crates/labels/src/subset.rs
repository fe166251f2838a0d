//! A part of the items, chosen by how far people disagree.
//!
//! [`entropy_bins`] flattens the distribution of entropies: the range between the smallest and the
//! largest normalized entropy H(p_i) / ln K is cut into bins of equal width, and at most so many
//! items are drawn from each. Of a set where nearly all agree, what is left is mostly hard. Bins are
//! half-open, `low + b·w ≤ h < low + (b + 1)·w`, so that items with the largest entropy are in none.
//!
//! CIFAR-10H-Hard is made of CIFAR-10H by the default [`EntropyBins`]: 10 bins, 200 each, 1,103 items.
//!
//! Every item has a random word of its own, and of a crowded bin those with the smallest words are
//! taken: whether an item is among them depends on the seed and the ids, not on the order of the
//! items. In numpy, with the lines of [`streams`]:
//!
//! ```python
//! def entropy_bins(h, ids, bins, per_bin, seed):
//!     width = (h.max() - h.min()) / bins
//!     edges = h.min() + np.arange(bins) * width
//!     word = [int(philox(seed, b"bins", [0, example_key(id), 0, 0]).random_raw()) for id in ids]
//!     chosen = []
//!     for b in range(bins):
//!         end = edges[b + 1] if b + 1 < bins else h.max()
//!         inside = [i for i in range(len(h)) if edges[b] <= h[i] < end]
//!         chosen += sorted(inside, key=lambda i: (word[i], ids[i]))[:per_bin]
//!     return sorted(chosen)
//! ```

use dissensus_core::philox::block;
use dissensus_core::{VoteTable, normalized_entropy};

use crate::{LabelError, Source, streams};

/// How many bins there are, and how many items of each are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntropyBins {
    /// Bins of equal width between the smallest and the largest normalized entropy.
    pub bins: usize,
    /// The most items of a bin.
    pub per_bin: usize,
    /// Decides which items of a crowded bin.
    pub seed: u64,
}

impl Default for EntropyBins {
    fn default() -> Self {
        Self { bins: 10, per_bin: 200, seed: 0 }
    }
}

/// The places of the chosen items, ascending; [`VoteTable::select`] makes a table of them. Items
/// without votes are an error that names them, and so are a single class and entropies that are all
/// the same, which have no bins.
pub fn entropy_bins(table: &VoteTable, settings: &EntropyBins) -> Result<Vec<usize>, LabelError> {
    let &EntropyBins { bins, per_bin, seed } = settings;
    let bad = |name, value: String, expected| {
        Err(LabelError::BadSetting { of: "entropy bins", name, value, expected })
    };
    if bins == 0 {
        return bad("bins", bins.to_string(), "a whole number of bins, at least 1");
    }
    if per_bin == 0 {
        return bad("per_bin", per_bin.to_string(), "a whole number of items, at least 1");
    }
    let source = Source::new(table)?;
    let entropies: Vec<f64> = (table.distributions().iter())
        .map(|p| normalized_entropy(p.as_ref()?.entropy(), table.classes().len()))
        .collect::<Option<_>>()
        .unwrap_or_default();
    let low = entropies.iter().copied().fold(f64::INFINITY, f64::min);
    let high = entropies.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if high <= low || entropies.is_empty() {
        return Err(LabelError::SameEntropy { items: table.len() });
    }
    let mut members: Vec<Vec<(u64, &str, usize)>> = vec![Vec::new(); bins];
    for (place, &entropy) in entropies.iter().enumerate() {
        if let Some(bin) = bin_of(entropy, low, high, bins) {
            let word = block([seed, streams::BINS], [0, source.keys()[place], 0, 0])[0];
            members[bin].push((word, table.items().name(place), place));
        }
    }
    let mut chosen: Vec<usize> = Vec::new();
    for bin in &mut members {
        bin.sort_unstable();
        chosen.extend(bin.iter().take(per_bin).map(|&(_, _, place)| place));
    }
    chosen.sort_unstable();
    Ok(chosen)
}

/// The bin of an entropy; `None` for the largest, which is beyond the last.
fn bin_of(entropy: f64, low: f64, high: f64, bins: usize) -> Option<usize> {
    let width = (high - low) / bins as f64;
    let edge = |bin: usize| low + bin as f64 * width;
    if entropy >= high {
        return None;
    }
    // The quotient may be off by one where an entropy lies on an edge; the edges decide.
    let near = (((entropy - low) / width) as usize).min(bins - 1);
    let first = near.saturating_sub(1);
    (first..bins.min(near + 2)).rev().find(|&bin| edge(bin) <= entropy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{counted, shares};

    /// Items with 0 … 20 of 40 votes against the rest, `copies` times each.
    fn spread(copies: usize) -> VoteTable {
        let rows = (0..21u32).flat_map(|n| std::iter::repeat_n(vec![40 - n, n], copies));
        counted(&rows.collect::<Vec<_>>())
    }

    fn entropy(table: &VoteTable, place: usize) -> f64 {
        table.distributions()[place].as_ref().unwrap().entropy() / 2f64.ln()
    }

    #[test]
    fn bins_are_filled_to_the_limit_and_the_largest_falls_out() {
        let table = spread(7);
        let settings = EntropyBins { bins: 4, per_bin: 10, seed: 3 };
        let chosen = entropy_bins(&table, &settings).unwrap();
        assert!(chosen.is_sorted_by(|a, b| a < b));
        for bin in 0..4 {
            let inside = |h: f64| bin as f64 / 4.0 <= h && h < (bin + 1) as f64 / 4.0;
            let there = (0..table.len()).filter(|&i| inside(entropy(&table, i))).count();
            let taken = chosen.iter().filter(|&&i| inside(entropy(&table, i))).count();
            assert_eq!(taken, there.min(10), "bin {bin}");
        }
        assert!(chosen.iter().all(|&i| entropy(&table, i) < 1.0));
        let all = EntropyBins { per_bin: 1000, ..settings };
        assert_eq!(entropy_bins(&table, &all).unwrap().len(), 140);
    }

    #[test]
    fn the_draw_belongs_to_the_ids_and_the_seed() {
        let table = spread(7);
        let settings = EntropyBins { bins: 4, per_bin: 10, seed: 3 };
        let ids = |table: &VoteTable, settings: &EntropyBins| {
            let chosen = entropy_bins(table, settings).unwrap();
            let mut ids: Vec<_> =
                chosen.iter().map(|&i| table.items().name(i).to_owned()).collect();
            ids.sort();
            ids
        };
        let backwards = table.select(&(0..table.len()).rev().collect::<Vec<_>>());
        assert_eq!(ids(&table, &settings), ids(&backwards, &settings));
        assert_ne!(ids(&table, &settings), ids(&table, &EntropyBins { seed: 4, ..settings }));
    }

    /// Each of 70 equal items is taken in 10/70 of the draws: over 700 seeds 100 times, sd
    /// √(700·(1/7)·(6/7)) ≈ 9.3; 5 sd are allowed.
    #[test]
    fn every_item_of_a_bin_is_as_likely() {
        let mut rows = vec![vec![9, 1]; 70];
        rows.push(vec![5, 5]);
        let table = counted(&rows);
        let mut times = [0i32; 71];
        for seed in 0..700 {
            let settings = EntropyBins { bins: 2, per_bin: 10, seed };
            entropy_bins(&table, &settings).unwrap().iter().for_each(|&i| times[i] += 1);
        }
        assert!(times[..70].iter().all(|n| (n - 100).abs() < 47), "{times:?}");
        assert_eq!(times[70], 0);
    }

    /// Entropies on the very edges go to the upper bin.
    #[test]
    fn edges_belong_to_the_bin_above() {
        for bins in 1..40 {
            for bin in 0..bins {
                let (low, high) = (0.07, 0.93);
                let edge = low + bin as f64 * ((high - low) / bins as f64);
                assert_eq!(bin_of(edge, low, high, bins), Some(bin), "{bin} of {bins}");
                if bin > 0 {
                    assert_eq!(bin_of(edge.next_down(), low, high, bins), Some(bin - 1));
                }
            }
            assert_eq!(bin_of(0.93, 0.07, 0.93, bins), None);
        }
    }

    #[test]
    fn what_has_no_bins_is_an_error() {
        let error = |table: &VoteTable, bins, per_bin| {
            entropy_bins(table, &EntropyBins { bins, per_bin, seed: 0 }).unwrap_err().to_string()
        };
        let table = spread(1);
        assert!(error(&table, 0, 1).contains("bins is \"0\""));
        assert!(error(&table, 1, 0).contains("per_bin is \"0\""));
        let same = error(&shares(&[vec![0.5, 0.5], vec![0.5, 0.5]]), 3, 3);
        assert_eq!(same, "the entropies of all 2 items are the same, which makes no bins");
        assert!(error(&counted(&[]), 3, 3).contains("all 0 items"));
        assert!(error(&counted(&[vec![3], vec![4]]), 3, 3).contains("all 2 items"));
        assert!(error(&counted(&[vec![3, 1], vec![0, 0]]), 3, 3).contains("without votes: \"i1\""));
    }
}
