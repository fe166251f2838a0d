//! How long the metrics take on a million predictions of ten classes.
//!
//! `cargo run --release -p dissensus-measure --example million`

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Instant;

use dissensus_core::philox::Stream;
use dissensus_measure::{Judged, METRICS, Matrix, ModelOutput, Scorer, Settings, Targets, Truth};

const N: usize = 1_000_000;
const K: usize = 10;

fn main() {
    let mut stream = Stream::new([1, 0], [0; 3]);
    let mut votes = Vec::with_capacity(N * K);
    let mut logits = Vec::with_capacity(N * K);
    for _ in 0..N {
        let row = votes.len();
        votes.extend((0..K).map(|_| (stream.unit().powi(4) * 8.0).floor()));
        votes[row + stream.below(K as u64) as usize] += 3.0;
        let total: f64 = votes[row..].iter().sum();
        for k in 0..K {
            logits.push((stream.unit() * 2.0 - 1.0) * 2.0 + votes[row + k] / total * 3.0);
        }
    }
    let given = vec![0; N];
    let start = Instant::now();
    let mut last = start;
    let mut lap = |what: &str| {
        println!("{what:<22}{:8.1} ms", last.elapsed().as_secs_f64() * 1e3);
        last = Instant::now();
    };
    let truth = Truth::new(Targets::Counts(Matrix::new(&votes, K).unwrap())).unwrap();
    let truth = Arc::new(truth.with_given(&given).unwrap());
    lap("(truth)");
    let logits = ModelOutput::Logits(Matrix::new(&logits, K).unwrap());
    let judged = Judged::new(truth, logits).unwrap();
    lap("(judged)");
    let scorer = Scorer::new(&judged, Settings::default()).unwrap();
    for metric in METRICS {
        let value = (metric.compute)(&scorer).value.unwrap();
        lap(&format!("{} {value:.4}", metric.about.name));
    }
    println!("{:<22}{:8.1} ms", "all", start.elapsed().as_secs_f64() * 1e3);
}
