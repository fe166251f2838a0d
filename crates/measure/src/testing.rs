//! The inputs of the golden tests, made by the same formulas as in `reference/measure/data.py`.

use std::sync::Arc;

use dissensus_core::philox::Stream;

use crate::truth::top;
use crate::{Judged, Matrix, ModelOutput, Targets, Truth};

pub(crate) const N: usize = 600;
pub(crate) const K: usize = 5;

pub(crate) fn uniform(stream: u64, n: usize) -> Vec<f64> {
    let mut stream = Stream::new([stream, 0], [0; 3]);
    (0..n).map(|_| stream.unit()).collect()
}

pub(crate) fn votes() -> Vec<f64> {
    let row = |u: &[f64]| {
        let mut row: Vec<f64> = u[..K].iter().map(|v| (v * v * v * v * 8.0).floor()).collect();
        row[(u[K] * K as f64) as usize] += 3.0;
        row
    };
    uniform(1, N * (K + 1)).chunks_exact(K + 1).flat_map(row).collect()
}

pub(crate) fn logits() -> Vec<f64> {
    let votes = votes();
    let row = |(u, counts): (&[f64], &[f64])| {
        let total: f64 = counts.iter().sum();
        let cell = |(u, c): (&f64, &f64)| (u * 2.0 - 1.0) * 2.0 + c / total * 3.0;
        u.iter().zip(counts).map(cell).collect::<Vec<_>>()
    };
    uniform(2, N * K).chunks_exact(K).zip(votes.chunks_exact(K)).flat_map(row).collect()
}

pub(crate) fn given() -> Vec<u32> {
    let votes = votes();
    let label = |(u, counts): (&[f64], &[f64])| match u[0] < 0.8 {
        true => top(counts) as u32,
        false => (u[1] * K as f64) as u32,
    };
    uniform(3, 2 * N).chunks_exact(2).zip(votes.chunks_exact(K)).map(label).collect()
}

/// Confidences, 0/1 outcomes with probability confidence − shift, and shares near that.
pub(crate) fn calibrated(n: usize, shift: f64) -> [Vec<f64>; 3] {
    let u = uniform(4, 3 * n);
    let rows = || u.chunks_exact(3).map(|u| (u[0] * 0.8 + 0.2, u));
    [
        rows().map(|(f, _)| f).collect(),
        rows().map(|(f, u)| f64::from(u[1] < f - shift)).collect(),
        rows().map(|(f, u)| (f - shift + (u[2] - 0.5) * 0.2).clamp(0.0, 1.0)).collect(),
    ]
}

/// The votes above, judged against the logits above.
pub(crate) fn judged() -> Judged {
    judge(&votes(), &logits(), K, Some(&given()))
}

pub(crate) fn judge(votes: &[f64], logits: &[f64], k: usize, given: Option<&[u32]>) -> Judged {
    let mut truth = Truth::new(Targets::Counts(Matrix::new(votes, k).unwrap())).unwrap();
    if let Some(given) = given {
        truth = truth.with_given(given).unwrap();
    }
    Judged::new(Arc::new(truth), ModelOutput::Logits(Matrix::new(logits, k).unwrap())).unwrap()
}
