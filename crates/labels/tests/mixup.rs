//! λ and pairings of mixup against numpy: `reference/labels/mixup.py`.

#![allow(clippy::unwrap_used)]

mod tables;

use dissensus_labels::{Delivery, Source};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    alpha: f64,
    seed: u64,
    epoch: u64,
    batch: u64,
    lambda: f64,
    partners: Vec<u32>,
}

/// Powers and logarithms may differ in their last bit from one library to another, so that λ is
/// compared to 1e-12. Exponents of 1/α = 1000 make that bit a thousand times larger.
#[test]
fn as_numpy() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("golden/mixup.json")).unwrap();
    let table = tables::table(&["a".to_owned()], &[vec![1.0]]);
    let source = Source::new(&table).unwrap();
    for Case { alpha, seed, epoch, batch, lambda, partners } in cases {
        let mixup: Delivery = format!("mixup:alpha={alpha}").parse().unwrap();
        let prepared = mixup.prepare(&source, seed).unwrap();
        let mixing = prepared.mixing().unwrap();
        let ours = mixing.lambda(epoch, batch);
        assert!((ours - lambda).abs() < 1e-12, "{mixup}: {ours}, numpy {lambda}");
        let mut out = vec![0; partners.len()];
        mixing.partners(epoch, batch, &mut out);
        assert_eq!(out, partners);
    }
}
