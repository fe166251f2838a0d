//! CIFAR-10H-Hard, the subset of the second paper, against numpy's own Philox.
//!
//! The file is not part of the repository; `dissensus_testing::data` says where it is looked for.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dissensus_core::{ClassSet, Counts, Ids, VoteTable, normalized_entropy};
use dissensus_labels::subset::{EntropyBins, entropy_bins};

/// CIFAR-10H: 10,000 rows of ten 64-bit counts behind 128 bytes of header.
fn cifar10h() -> Option<VoteTable> {
    let file = "cifar10h/cifar10h-counts.npy";
    let bytes = std::fs::read(dissensus_testing::data(&[file])?.join(file)).unwrap();
    let votes: Vec<u64> =
        bytes[128..].chunks_exact(8).map(|n| u64::from_le_bytes(n.try_into().unwrap())).collect();
    let mut counts = Counts::new();
    for row in votes.chunks_exact(10) {
        counts.push((0..10).zip(row).map(|(class, &n)| (class, n as u32))).unwrap();
    }
    VoteTable::from_counts(ClassSet::numbered(10).unwrap(), Ids::positions(10_000), counts).ok()
}

/// The lines of numpy in the documentation of `subset`, numpy 2.4.6, with the ids `"0"` … `"9999"`
/// and the entropies of the counts: seeds 0 and 7 give these places, their sums and means.
#[test]
fn cifar10h_hard_has_1103_items() {
    let Some(table) = cifar10h() else { return };
    let distributions = table.distributions();
    for (seed, first, last, sum, mean) in [
        (0, [3, 22, 32, 34, 46, 47, 53, 59], 9989, 5_675_750, 0.2429519832205019),
        (7, [0, 3, 5, 26, 32, 46, 47, 51], 9997, 5_626_995, 0.2421486026016268),
    ] {
        let chosen = entropy_bins(&table, &EntropyBins { seed, ..EntropyBins::default() }).unwrap();
        assert_eq!(chosen.len(), 1_103);
        assert_eq!((&chosen[..8], chosen.last()), (&first[..], Some(&last)));
        assert_eq!(chosen.iter().sum::<usize>(), sum);
        let entropy = |&place: &usize| {
            normalized_entropy(distributions[place].as_ref().unwrap().entropy(), 10).unwrap()
        };
        let found = chosen.iter().map(entropy).sum::<f64>() / 1_103.0;
        assert!((found - mean).abs() < 1e-12 && (found - 0.24).abs() < 5e-3, "{found}");
    }
}
