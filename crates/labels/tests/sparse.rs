//! Sparse draws against numpy's own Philox: `reference/labels/sparse.py`. Bit for bit.

#![allow(clippy::unwrap_used)]

mod tables;

use dissensus_labels::{Source, sparse};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    draw: String,
    seed: u64,
    k: u32,
    ids: Vec<String>,
    rows: Vec<Vec<f64>>,
    drawn: Vec<Vec<f64>>,
}

#[test]
fn as_numpy() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("golden/sparse.json")).unwrap();
    for Case { draw, seed, k, ids, rows, drawn } in cases {
        let table = tables::table(&ids, &rows);
        let source = Source::new(&table).unwrap();
        let ours = match draw.as_str() {
            "without" => sparse::without_replacement(&source, k, seed),
            _ => sparse::with_replacement(&source, k, seed),
        };
        let ours = ours.unwrap();
        let counts = ours.counts().unwrap();
        for (item, expected) in drawn.iter().enumerate() {
            assert_eq!(&counts.row(item, rows[0].len()), expected, "{draw}, seed {seed}, k = {k}");
        }
    }
}
