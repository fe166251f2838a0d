//! Our side of `bench/run science`: prints the seconds of each repetition, without reading files.
//!
//!     science sls COUNTS.npy REPEATS | metrics COUNTS.npy LOGITS.npy REPEATS | intervals COUNTS.npy LOGITS.npy REPEATS
//!           | dawid-skene VOTES.csv REPEATS

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use dissensus_core::VoteTable;
use dissensus_io::npy;
use dissensus_labels::targets::dawid_skene;
use dissensus_labels::{Delivery, Source};
use dissensus_measure::intervals::interval;
use dissensus_measure::{
    Judged, METRICS, Matrix, ModelOutput, Scorer, Settings, Targets, Truth, score_all,
};
use dissensus_votes::{ReadOptions, Values, read};

/// As the program has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["sls", counts, repeats] => sls(counts, repeats.parse()?),
        ["metrics", counts, logits, repeats] => metrics(counts, logits, repeats.parse()?, false),
        ["intervals", counts, logits, repeats] => metrics(counts, logits, repeats.parse()?, true),
        ["dawid-skene", votes, repeats] => fit(votes, repeats.parse()?),
        _ => Err("which benchmark?".into()),
    }
}

fn repeat(times: usize, mut work: impl FnMut() -> Outcome<()>) -> Outcome<()> {
    for _ in 0..times {
        let start = Instant::now();
        work()?;
        println!("{}", start.elapsed().as_secs_f64());
    }
    Ok(())
}

fn votes(path: &str, values: Option<Values>) -> Outcome<VoteTable> {
    Ok(read(Path::new(path), &ReadOptions { values, ..ReadOptions::default() })?.table)
}

/// One epoch of labels for every example; then eight epochs at once, as training asks for them.
fn sls(counts: &str, repeats: usize) -> Outcome<()> {
    let table = votes(counts, Some(Values::Counts))?;
    let prepared = "sls".parse::<Delivery>()?.prepare(&Source::new(&table)?, 0)?;
    let mut labels = vec![0; table.len()];
    let mut epoch = 0;
    repeat(repeats, || {
        prepared.epoch(epoch, &mut labels)?;
        epoch += 1;
        black_box(&labels);
        Ok(())
    })?;
    println!("eight epochs");
    repeat(repeats, || {
        let mut epochs = prepared.epochs()?;
        for _ in 0..8 {
            black_box(epochs.at(epoch));
            epoch += 1;
        }
        Ok(())
    })
}

/// Every metric, from counts and logits in memory; with the intervals of those that have one.
fn metrics(counts: &str, logits: &str, repeats: usize, intervals: bool) -> Outcome<()> {
    let array = |path: &str| -> Outcome<(Vec<f64>, usize)> {
        let bytes = std::fs::read(path)?;
        let array = npy::parse(&bytes)?;
        Ok((array.numbers()?, array.matrix_shape()?.1))
    };
    let ((counts, k), (logits, _)) = (array(counts)?, array(logits)?);
    let given = vec![0; counts.len() / k];
    repeat(repeats, || {
        let truth = Truth::new(Targets::Counts(Matrix::new(&counts, k)?))?.with_given(&given)?;
        let logits = ModelOutput::Logits(Matrix::new(&logits, k)?);
        let judged = Judged::new(Arc::new(truth), logits)?;
        black_box(score_all(&judged, Settings::default())?);
        if intervals {
            let scorer = Scorer::new(&judged, Settings::default())?;
            for metric in METRICS {
                if let Some(value) = (metric.compute)(&scorer).value {
                    black_box(interval(metric, value, &scorer)?);
                }
            }
        }
        Ok(())
    })
}

/// Ten iterations of Dawid–Skene.
fn fit(votes_file: &str, repeats: usize) -> Outcome<()> {
    let table = votes(votes_file, None)?;
    let settings = dawid_skene::Settings { iterations: 10, tolerance: 0.0 };
    repeat(repeats, || {
        black_box(dawid_skene::fit(&table, settings)?);
        Ok(())
    })
}
