//! Splits: partitions of the right sizes that depend on ids, classes, shares and seed alone.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;

use dissensus_labels::example_key;
use dissensus_train::{SPLIT, SplitError, split};
use proptest::prelude::*;

fn keys(n: usize) -> Vec<u64> {
    (0..n).map(|i| example_key(&i.to_string())).collect()
}

/// numpy 2.4.6, with the lines of `dissensus_labels::streams`:
///
/// ```python
/// ids = [str(i) for i in range(20)]
/// word = lambda i: philox(7, b"split", [0, example_key(ids[i]), 0, 0]).random_raw()
/// order = sorted(range(20), key=word)
/// print(sorted(order[:14]), sorted(order[14:16]), sorted(order[16:]))
/// print(hex(int.from_bytes(b"split", "big")))
/// ```
#[test]
fn items_go_where_numpy_puts_them() {
    let classes: Vec<u32> = (0..20).map(|i| i % 3).collect();
    let found = split(&classes, &keys(20), &[0.7, 0.1, 0.2], false, 7).unwrap();
    let train = vec![1, 2, 3, 4, 6, 7, 8, 9, 11, 13, 14, 15, 18, 19];
    let parts = vec![train, vec![5, 17], vec![0, 10, 12, 16]];
    assert_eq!(found, parts);
    assert_eq!(SPLIT, 0x73706c6974);
}

#[test]
fn totals_are_exact_and_classes_alike() {
    let n = 10_000;
    let classes: Vec<u32> = (0..n).map(|i| (i * i % 1_009) as u32 % 10).collect();
    let found = split(&classes, &keys(n), &[0.8, 0.2], true, 0).unwrap();
    assert_eq!((found[0].len(), found[1].len()), (8_000, 2_000));
    for class in 0..10 {
        let count = |places: &[usize]| places.iter().filter(|&&i| classes[i] == class).count();
        let (train, all) = (count(&found[0]), classes.iter().filter(|c| **c == class));
        assert!((train as f64 - 0.8 * all.count() as f64).abs() < 1.0, "class {class}: {train}");
    }
    // Without stratification, some class is off by more than one.
    let plain = split(&classes, &keys(n), &[0.8, 0.2], false, 0).unwrap();
    assert_eq!(plain[0].len(), 8_000);
    let off = |class: u32| {
        let all = classes.iter().filter(|c| **c == class).count() as f64;
        let train = plain[0].iter().filter(|&&i| classes[i] == class).count() as f64;
        (train - 0.8 * all).abs()
    };
    assert!((0..10).any(|class| off(class) > 1.0));
}

#[test]
fn what_cannot_be_split_is_an_error() {
    let classes = vec![0; 4];
    let error = split(&classes, &keys(3), &[0.8, 0.2], true, 0).unwrap_err();
    assert_eq!(error, SplitError::Keys { keys: 3, items: 4 });
    let bad: [&[f64]; 6] =
        [&[], &[0.8, 0.3], &[1.0, 0.0], &[1.5, -0.5], &[f64::NAN, 0.5], &[0.5, 0.4]];
    for shares in bad {
        let error = split(&classes, &keys(4), shares, true, 0).unwrap_err().to_string();
        assert!(error.ends_with("expected numbers above 0 that sum to 1, as in [0.8, 0.2]"));
    }
    for (n, part) in [(0, 1), (2, 2)] {
        let found = split(&classes[..n], &keys(n), &[0.8, 0.2], true, 0).unwrap_err();
        assert_eq!(found, SplitError::Empty { items: n, shares: vec![0.8, 0.2], part });
    }
}

fn items() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(0u32..6, 30..200)
}

fn shares() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(1u32..5, 2..4).prop_map(|weights| {
        let sum = f64::from(weights.iter().sum::<u32>());
        weights.into_iter().map(|weight| f64::from(weight) / sum).collect()
    })
}

proptest! {
    #[test]
    fn every_item_is_in_one_part(
        classes in items(), shares in shares(), stratify: bool, seed: u64,
    ) {
        let found = split(&classes, &keys(classes.len()), &shares, stratify, seed).unwrap();
        let mut all = found.concat();
        all.sort_unstable();
        prop_assert!(all.into_iter().eq(0..classes.len()));
        prop_assert!(found.iter().all(|part| part.is_sorted()));
    }

    #[test]
    fn sizes_are_within_one(classes in items(), shares in shares(), seed: u64) {
        let found = split(&classes, &keys(classes.len()), &shares, true, seed).unwrap();
        let mut sizes: BTreeMap<u32, usize> = BTreeMap::new();
        classes.iter().for_each(|&class| *sizes.entry(class).or_default() += 1);
        let near = |count: usize, exact: f64| (count as f64 - exact).abs() < 1.0 + 1e-6;
        for (part, share) in found.iter().zip(&shares) {
            prop_assert!(near(part.len(), classes.len() as f64 * share));
            for (&class, &size) in &sizes {
                let count = part.iter().filter(|&&place| classes[place] == class).count();
                prop_assert!(near(count, size as f64 * share), "class {}: {}", class, count);
            }
        }
    }

    /// The same items in another order go to the same parts.
    #[test]
    fn rows_may_come_in_any_order(
        classes in items(), shares in shares(), seed: u64, by in 1usize..30, stratify: bool,
    ) {
        let keys = keys(classes.len());
        let order: Vec<usize> = (0..classes.len()).map(|i| (i + by) % classes.len()).rev().collect();
        let there = split(
            &order.iter().map(|&i| classes[i]).collect::<Vec<_>>(),
            &order.iter().map(|&i| keys[i]).collect::<Vec<_>>(),
            &shares, stratify, seed,
        ).unwrap();
        let here = split(&classes, &keys, &shares, stratify, seed).unwrap();
        for (here, there) in here.iter().zip(&there) {
            let mut there: Vec<usize> = there.iter().map(|&place| order[place]).collect();
            there.sort_unstable();
            prop_assert_eq!(here, &there);
        }
    }

    /// With 100 items in a class, two seeds cut it alike once in (100 over 20) ≈ 5·10²⁰ times.
    #[test]
    fn seeds_differ(seed in 0u64..1_000_000) {
        let classes = vec![3; 100];
        let cut = |seed| split(&classes, &keys(100), &[0.8, 0.2], true, seed).unwrap();
        prop_assert_eq!(cut(seed), cut(seed));
        prop_assert_ne!(cut(seed), cut(seed + 1));
    }
}
