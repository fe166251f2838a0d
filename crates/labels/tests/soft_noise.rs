//! Targets of deliveries that give distributions against numpy: `reference/labels/soft_noise.py`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod tables;

use dissensus_labels::{Delivery, EpochBuffer, EpochTargets, Source};
use serde::Deserialize;
use tables::table;

#[derive(Deserialize)]
struct Case {
    delivery: Delivery,
    seed: u64,
    ids: Vec<String>,
    rows: Vec<Vec<f64>>,
    epochs: Vec<u64>,
    targets: Vec<Vec<Vec<f64>>>,
}

/// Logarithms and cosines may differ in their last bit from one library to another, and a sum in
/// another order does, so that targets are compared to 1e-12.
#[test]
fn as_numpy() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("golden/soft_noise.json")).unwrap();
    let (mut buffer, mut negative) = (EpochBuffer::default(), 0);
    for Case { delivery, seed, ids, rows, epochs, targets } in cases {
        let table = table(&ids, &rows);
        let prepared = delivery.prepare(&Source::new(&table).unwrap(), seed).unwrap();
        for (&epoch, expected) in epochs.iter().zip(&targets) {
            let EpochTargets::Distributions(found) = prepared.targets_at(epoch, &mut buffer) else {
                panic!("labels")
            };
            let expected = expected.concat();
            assert_eq!(found.len(), expected.len());
            for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
                let near = (found - expected).abs() < 1e-12;
                assert!(near, "{delivery}, epoch {epoch}, {at}: {found}, numpy {expected}");
            }
            negative += found.iter().filter(|t| **t < 0.0).count();
        }
    }
    assert!(negative > 100, "{negative} entries below 0");
}
