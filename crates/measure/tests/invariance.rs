//! What must not matter does not: the number of threads, the order of the items, their repetition.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use dissensus_core::philox::Stream;
use dissensus_measure::ood::{OodInput, OodSettings, SCORES};
use dissensus_measure::reliability::Binning;
use dissensus_measure::{
    Against, Judged, Matrix, ModelOutput, Scorer, Settings, Targets, Truth, score_all, slices,
};

const K: usize = 4;
/// More than two of the largest chunks that the work is cut into.
const N: usize = 40_000;

fn judged() -> Judged {
    let mut stream = Stream::new([11, 0], [0; 3]);
    let mut votes = Vec::new();
    let mut logits = Vec::new();
    for _ in 0..N {
        let winner = stream.below(K as u64) as usize;
        for class in 0..K {
            let extra = if class == winner { 2.0 } else { 0.0 };
            votes.push(stream.below(4) as f64 + extra);
            // Rounded, so that confidences tie.
            logits.push((stream.normal() * 4.0 + extra * 2.0).round() / 4.0);
        }
    }
    let truth = Truth::new(Targets::Counts(Matrix::new(&votes, K).unwrap())).unwrap();
    let truth = truth.with_given(&vec![1; N]).unwrap();
    let logits = ModelOutput::Logits(Matrix::new(&logits, K).unwrap());
    Judged::new(Arc::new(truth), logits).unwrap()
}

fn values(judged: &Judged) -> Vec<(&'static str, f64)> {
    let scores = score_all(judged, Settings::default()).unwrap();
    scores.into_iter().map(|score| (score.metric, score.value.value.unwrap())).collect()
}

fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let all = |threads| {
        with_threads(threads, || {
            let judged = judged();
            let scorer = Scorer::new(&judged, Settings::default()).unwrap();
            let curves = [Binning::Mass, Binning::Width].map(|binning| {
                [Against::Majority, Against::Human].map(|by| scorer.reliability(binning, by))
            });
            let smooth = scorer.smooth_curve(Against::Human, 50);
            let bits: Vec<_> = values(&judged).iter().map(|(_, v)| v.to_bits()).collect();
            (bits, curves, smooth, scorer.brier_parts(), judged.predictions().to_vec())
        })
    };
    let one = all(1);
    assert!(one == all(2) && one == all(5));
}

#[test]
fn scores_of_items_are_the_same_bits_too() {
    let judged = judged();
    let logits: Vec<f64> = judged.predictions()[..400 * K].iter().map(|q| q.ln()).collect();
    let matrix = Matrix::new(&logits, K).unwrap();
    let input = OodInput {
        predictions: Some(ModelOutput::Logits(matrix)),
        perturbed: Some(matrix),
        features: Some(matrix),
        training: Some(matrix),
    };
    for score in SCORES {
        let run = || (score.compute)(&input, &OodSettings::default()).unwrap();
        assert_eq!(with_threads(1, run), with_threads(3, run), "{}", score.about.name);
    }
}

#[test]
fn the_order_of_the_items_does_not_matter() {
    let judged = judged();
    let mut order: Vec<usize> = (0..N).collect();
    Stream::new([12, 0], [0; 3]).shuffle(&mut order);
    let shuffled = judged.select(&order).unwrap();
    for ((name, a), (_, b)) in values(&judged).into_iter().zip(values(&shuffled)) {
        assert!((a - b).abs() < 1e-12, "{name}: {a} {b}");
    }
    let slice = |judged: &Judged| -> Vec<(usize, f64, f64)> {
        let slices = slices::by_entropy(judged.truth(), 7).unwrap();
        slices.iter().map(|slice| (slice.items.len(), slice.lower, slice.upper)).collect()
    };
    assert_eq!(slice(&judged), slice(&shuffled));
}

/// Everything counted twice: no mean and no curve may move. Equal-mass bins may: their cuts, 15 to
/// an odd count, fall elsewhere.
#[test]
fn every_item_twice_is_the_same() {
    let judged = judged();
    let twice: Vec<usize> = (0..N).chain(0..N).collect();
    let doubled = judged.select(&twice).unwrap();
    for ((name, a), (_, b)) in values(&judged).into_iter().zip(values(&doubled)) {
        let tolerance = match name {
            // The density floor of the smooth error is counted in items.
            "smooth_ece" | "smooth_ece_human" => 1e-8,
            "ece_mass" | "ece_mass_human" => 1e-3,
            // Twice the items are half the chance.
            _ if name.contains("debiased") => 0.05,
            _ => 1e-12,
        };
        assert!((a - b).abs() < tolerance, "{name}: {a} {b}");
    }
}

/// Slices share the items out: their sizes add up, and their sums make the whole.
#[test]
fn slices_make_up_the_whole() {
    let judged = judged();
    let slices = slices::by_entropy(judged.truth(), 5).unwrap();
    let mut all: Vec<usize> = slices.iter().flat_map(|slice| slice.items.clone()).collect();
    all.sort_unstable();
    assert_eq!(all, (0..N).collect::<Vec<_>>());
    assert!(slices.windows(2).all(|pair| pair[0].upper < pair[1].lower));
    let nll = |judged: &Judged| values(judged)[0].1;
    let parts: f64 = slices
        .iter()
        .map(|slice| nll(&judged.select(&slice.items).unwrap()) * slice.items.len() as f64)
        .sum();
    assert!((parts / N as f64 - nll(&judged)).abs() < 1e-12);
}
