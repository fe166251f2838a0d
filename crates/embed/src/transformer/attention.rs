//! Self-attention with several heads, over each sequence by itself.
//!
//! For head h: A = softmax(Q·Kᵀ/√d), context = A·V, where Q, K and V are columns h·d.. of the three
//! thirds of the rows that the joint projection gave. Nothing is masked, since nothing is padded.
//!
//! Vaswani et al., “Attention Is All You Need”, 2017.

use dissensus_linalg::{Packed, Product};
use pulp::Arch;

use super::rows::softmax;

/// Room for one head of one sequence.
pub(crate) struct Head {
    matrix: Packed,
    scores: Vec<f32>,
}

impl Head {
    pub(crate) fn new(arch: Arch) -> Self {
        Self { matrix: Packed::empty(arch), scores: Vec::new() }
    }

    /// From rows of 3·width (queries, keys, values) to rows of width, over sequences of `lengths`.
    pub(crate) fn attend(
        &mut self,
        arch: Arch,
        qkv: &[f32],
        lengths: &[usize],
        width: usize,
        heads: usize,
        context: &mut [f32],
    ) {
        let mut first = 0;
        for &length in lengths {
            let rows = &qkv[3 * width * first..][..3 * width * length];
            let out = &mut context[width * first..][..width * length];
            for head in 0..heads {
                self.one(arch, rows, length, width, width / heads, head, out);
            }
            first += length;
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn one(
        &mut self,
        arch: Arch,
        rows: &[f32],
        length: usize,
        width: usize,
        depth: usize,
        head: usize,
        out: &mut [f32],
    ) {
        let stride = 3 * width;
        let column = head * depth;
        self.scores.resize(length * length, 0.0);
        self.matrix.fill_transposed(&rows[width + column..], stride, depth, length);
        let product = Product::new(&rows[column..], length, &self.matrix, &mut self.scores);
        Product { x_stride: stride, ..product }.compute(arch);
        softmax(arch, &mut self.scores, length, 1.0 / (depth as f32).sqrt());
        self.matrix.fill(&rows[2 * width + column..], stride, length, depth);
        let product = Product::new(&self.scores, length, &self.matrix, &mut out[column..]);
        Product { out_stride: width, ..product }.compute(arch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transformer::testing::numbers;

    #[test]
    fn attention_follows_its_formula_in_every_sequence() {
        let (arch, width, heads) = (Arch::new(), 12, 3);
        let (depth, lengths) = (width / heads, [5, 1, 9]);
        let tokens: usize = lengths.iter().sum();
        let qkv = numbers(tokens * 3 * width);
        let mut context = vec![0.0; tokens * width];
        Head::new(arch).attend(arch, &qkv, &lengths, width, heads, &mut context);
        let at = |token: usize, part: usize, column: usize| {
            f64::from(qkv[token * 3 * width + part * width + column])
        };
        let mut first = 0;
        for length in lengths {
            for (i, column) in (0..length).flat_map(|i| (0..width).map(move |c| (i, c))) {
                let from = column / depth * depth;
                let weights: Vec<f64> = (0..length)
                    .map(|j| {
                        let dot = |d| at(first + i, 0, d) * at(first + j, 1, d);
                        let dot: f64 = (from..from + depth).map(dot).sum();
                        (dot / (depth as f64).sqrt()).exp()
                    })
                    .collect();
                let all: f64 = weights.iter().sum();
                let wanted: f64 =
                    (0..length).map(|j| weights[j] / all * at(first + j, 2, column)).sum();
                let found = f64::from(context[(first + i) * width + column]);
                assert!((found - wanted).abs() < 1e-6, "{found} {wanted}");
            }
            first += length;
        }
    }
}
