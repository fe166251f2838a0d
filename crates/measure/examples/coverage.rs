//! How often the 95 % intervals of the metrics hold the value of the population, as a table in Markdown.
//!
//!     cargo run --release -p dissensus-measure --example coverage [DATA SETS]      # 1,000 if none is given
//!
//! Items have true distributions: Dirichlet with weights of half a vote over five classes, or a blend of two classes (as
//! `blends` makes them). People vote by them. A model sees them through noise and is calibrated, underconfident or
//! overconfident (temperature 1, 2 or 1/2). What the population's value is, a million items say. A difference is that of
//! two such models on the same items.

#![allow(clippy::print_stdout)]

use std::sync::Arc;

use dissensus_core::philox::Stream;
use dissensus_measure::intervals::{difference_interval, interval};
use dissensus_measure::{
    Interval, Judged, METRICS, Matrix, MeasureError, ModelOutput, Scorer, Settings, Targets, Truth,
};
use rayon::prelude::*;

const CLASSES: usize = 5;
const POPULATION: usize = 1_000_000;

#[derive(Clone, Copy)]
enum Data {
    Dirichlet,
    Blends,
}

#[derive(Clone, Copy)]
struct Setting {
    data: Data,
    votes: usize,
    sharpness: f64,
}

/// A standard normal number (Box and Muller).
fn normal(stream: &mut Stream) -> f64 {
    (-2.0 * (1.0 - stream.unit()).ln()).sqrt() * (std::f64::consts::TAU * stream.unit()).cos()
}

fn truth(data: Data, stream: &mut Stream) -> [f64; CLASSES] {
    match data {
        // Gamma of shape 1/2 is half the square of a normal number.
        Data::Dirichlet => {
            let draws = [(); CLASSES].map(|()| normal(stream).powi(2).max(1e-12));
            let sum: f64 = draws.iter().sum();
            draws.map(|draw| draw / sum)
        }
        Data::Blends => {
            let (a, b) = (stream.below(5) as usize, stream.below(5) as usize);
            let share = stream.unit();
            let mut p = [0.01; CLASSES];
            p[a] += 0.95 * share;
            p[b] += 0.95 * (1.0 - share);
            p
        }
    }
}

/// Votes and the logits of two models on so many items.
fn sample(setting: &Setting, items: usize, seed: u64) -> Result<[Judged; 2], MeasureError> {
    let mut stream = Stream::new([seed, 37], [items as u64, 0, 0]);
    let mut counts = vec![0.0; items * CLASSES];
    let mut logits = [vec![0.0; items * CLASSES], vec![0.0; items * CLASSES]];
    for item in 0..items {
        let p = truth(setting.data, &mut stream);
        for _ in 0..setting.votes {
            let mut rest = stream.unit();
            let class = p.iter().position(|share| {
                rest -= share;
                rest < 0.0
            });
            counts[item * CLASSES + class.unwrap_or(CLASSES - 1)] += 1.0;
        }
        for (model, logits) in logits.iter_mut().enumerate() {
            for (class, share) in p.iter().enumerate() {
                let noise = [0.4, 0.6][model] * normal(&mut stream);
                logits[item * CLASSES + class] = setting.sharpness * (share.max(1e-3).ln() + noise);
            }
        }
    }
    let truth = Arc::new(Truth::new(Targets::Counts(Matrix::new(&counts, CLASSES)?))?);
    let [a, b] = &logits;
    let judged = |logits: &[f64]| {
        Judged::new(Arc::clone(&truth), ModelOutput::Logits(Matrix::new(logits, CLASSES)?))
    };
    Ok([judged(a)?, judged(b)?])
}

/// The metrics of the two models, then their differences.
fn values(judged: &[Judged; 2]) -> Result<Vec<Option<f64>>, MeasureError> {
    let a = Scorer::new(&judged[0], Settings::default())?;
    let b = Scorer::new(&judged[1], Settings::default())?;
    Ok(METRICS
        .iter()
        .flat_map(|metric| {
            let (a, b) = ((metric.compute)(&a).value, (metric.compute)(&b).value);
            [a, a.zip(b).map(|(a, b)| b - a)]
        })
        .collect())
}

type Ends = Option<(f64, f64)>;

fn intervals(judged: &[Judged; 2]) -> Result<Vec<Ends>, Box<dyn std::error::Error>> {
    let a = Scorer::new(&judged[0], Settings::default())?;
    let b = Scorer::new(&judged[1], Settings::default())?;
    let mut ends = Vec::new();
    for metric in METRICS {
        let value = (metric.compute)(&a).value;
        let found = value.map(|value| interval(metric, value, &a)).transpose()?.flatten();
        ends.push(found.map(|found| (found.low, found.high)));
        ends.push(difference_interval(metric, &a, &b)?.map(|found| (found.low, found.high)));
    }
    Ok(ends)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sets: u64 = std::env::args().nth(1).map_or(Ok(1000), |text| text.parse())?;
    println!("# Coverage of the intervals over items\n");
    println!(
        "The share of {sets} data sets whose 95 % interval holds the value of the population, in percent: the metric, then \
         the difference of two models. Made by `cargo run --release -p dissensus-measure --example coverage`.\n"
    );
    let shown: Vec<usize> = (0..METRICS.len())
        .filter(|at| {
            !matches!(METRICS[*at].interval, Interval::Unknown(_))
                && METRICS[*at].about.name != "accuracy_given"
        })
        .collect();
    print!("| data | items | votes | confidence |");
    shown.iter().for_each(|at| print!(" {} |", METRICS[*at].about.name));
    print!("\n|---|---:|---:|---|");
    shown.iter().for_each(|_| print!("---|"));
    println!();
    let (mut cells, mut outside, mut worst) = (0, 0, 100.0f64);
    for data in [Data::Dirichlet, Data::Blends] {
        for sharpness in [1.0, 0.5, 2.0] {
            for votes in [3, 10, 50] {
                let setting = Setting { data, votes, sharpness };
                let population = values(&sample(&setting, POPULATION, u64::MAX)?)?;
                for items in [100, 300, 1000, 10_000] {
                    let found: Vec<Vec<Ends>> = (0..sets)
                        .into_par_iter()
                        .map(|seed| {
                            let judged =
                                sample(&setting, items, seed).map_err(|error| error.to_string())?;
                            intervals(&judged).map_err(|error| error.to_string())
                        })
                        .collect::<Result<_, String>>()?;
                    let coverage = |at: usize| {
                        let ends = found.iter().filter_map(|ends| ends[at]);
                        let (mut all, mut held) = (0u32, 0u32);
                        for (low, high) in ends {
                            all += 1;
                            // What is equal on paper differs by rounding.
                            let holds = |v: f64| low - 1e-9 <= v && v <= high + 1e-9;
                            held += u32::from(population[at].is_some_and(holds));
                        }
                        100.0 * f64::from(held) / f64::from(all)
                    };
                    let name = match data {
                        Data::Dirichlet => "Dirichlet",
                        Data::Blends => "blends",
                    };
                    let confidence = match sharpness {
                        1.0 => "right",
                        0.5 => "under",
                        _ => "over",
                    };
                    print!("| {name} | {items} | {votes} | {confidence} |");
                    for at in &shown {
                        let pair = [coverage(2 * at), coverage(2 * at + 1)];
                        print!(" {:.1} {:.1} |", pair[0], pair[1]);
                        for one in pair {
                            cells += 1;
                            outside += u32::from(!(93.0..=97.0).contains(&one));
                            worst = worst.min(one);
                        }
                    }
                    println!();
                }
            }
        }
    }
    let error = (95.0 * 5.0 / sets as f64).sqrt();
    println!(
        "\nOf {cells} cells, {outside} are not within 95 ± 2; the least is {worst:.1}. The standard error of a cell of 95 is \
         {error:.1}. The difference of `brier_uncertainty` is 0, since it depends on the votes alone."
    );
    Ok(())
}
