//! How long deliveries of 10 million examples and a fit to 500,000 votes take.
//!
//! `cargo run --release -p dissensus-labels --example speed [examples] [votes an example]`

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::time::Instant;

use dissensus_core::philox::Stream;
use dissensus_core::{ClassSet, Counts, Ids, Keep, Probabilities, TableBuilder, VoteTable};
use dissensus_labels::targets::dawid_skene;
use dissensus_labels::{Delivers, Delivery, Source, sparse};

const K: usize = 10;

fn lap<T>(what: &str, times: usize, mut work: impl FnMut() -> T) -> T {
    let mut best = f64::MAX;
    let mut result = None;
    for _ in 0..times {
        let start = Instant::now();
        result = Some(work());
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{what:<44}{:9.1} ms", best * 1e3);
    result.unwrap()
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|a| a.parse::<usize>().unwrap());
    let (n, votes) = (arguments.next().unwrap_or(10_000_000), arguments.next().unwrap_or(10));
    let mut stream = Stream::new([1, 0], [0; 3]);
    let mut counts = Counts::new();
    let mut shares = Probabilities::new(K);
    for _ in 0..n {
        let top = stream.below(K as u64) as usize;
        let sure = stream.unit();
        let mut row = [0u32; K];
        for _ in 0..votes {
            row[if stream.unit() < sure { top } else { stream.below(K as u64) as usize }] += 1;
        }
        counts.push((0..).zip(row)).unwrap();
        shares.push(&row.map(|c| f64::from(c) / votes as f64)).unwrap();
    }
    let classes = || ClassSet::numbered(K).unwrap();
    let counted = VoteTable::from_counts(classes(), Ids::positions(n), counts).unwrap();
    let shared = VoteTable::from_probabilities(classes(), Ids::positions(n), shares).unwrap();
    println!("{n} examples, {votes} votes each, {K} classes");
    let mut labels = vec![0; n];
    for (what, table) in [("counts", &counted), ("probabilities", &shared)] {
        let source = lap(&format!("source of {what}"), 1, || Source::new(table).unwrap());
        for name in ["sls", "shuffled_sls", "multipass", "majority", "soft"] {
            let delivery: Delivery = name.parse().unwrap();
            if what != "counts" && delivery.entry().needs_counts {
                continue;
            }
            let prepared =
                lap(&format!("  {name}: prepare"), 1, || delivery.prepare(&source, 7).unwrap());
            if delivery.entry().delivers != Delivers::Labels {
                continue;
            }
            let mut t = 0;
            lap(&format!("  {name}: one epoch"), 12, || {
                t += 1;
                prepared.epoch(t, &mut labels).unwrap();
            });
            let mut epochs = prepared.epochs().unwrap();
            let mut four = 0;
            lap(&format!("  {name}: four epochs in a row"), 5, || {
                four += 4;
                (four - 4..four).map(|t| u64::from(epochs.at(t)[n / 2])).sum::<u64>()
            });
        }
        lap("  sparse draws, k = 5", 1, || sparse::with_replacement(&source, 5, 1).unwrap());
    }

    let mut builder = TableBuilder::new(Keep::Votes);
    for vote in 0..500_000u64 {
        let (item, annotator) = (vote / 5, stream.below(1000));
        let truth = item % K as u64;
        let sure = stream.unit() < 0.5 + 0.4 * annotator as f64 / 1000.0;
        let label = if sure { truth } else { stream.below(K as u64) };
        let (item, annotator) = (item.to_string(), annotator.to_string());
        builder.vote(&item, Some(&annotator), &label.to_string(), 1.0, vote).unwrap();
    }
    let table = builder.finish().unwrap();
    let settings = dawid_skene::Settings { iterations: 10, tolerance: 0.0 };
    lap("Dawid-Skene, 500,000 votes, 10 rounds", 5, || dawid_skene::fit(&table, settings).unwrap());
}
