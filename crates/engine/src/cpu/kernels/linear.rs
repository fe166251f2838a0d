//! y = x·W + b. Backward: dx = dy·Wᵀ, dW = xᵀ·dy, db = Σ dy. Bilinear in (x, W), so its tangents
//! are sums of the same products.

use crate::cpu::team::Team;
use crate::scalar::Real;

use super::tile::{Gather, Outer, Rows, Tap, gather, outer};
use super::winograd::Scratch;
use super::{Into, transpose};

/// A linear layer's widths, and where the rows of a batch lie.
pub(crate) struct Linear {
    inputs: usize,
    outputs: usize,
    from: Vec<u32>,
    to: Vec<u32>,
}

const PLAIN: &[Tap] = &[Tap { shift: 0, weights: 0 }];

/// The rows of a batch as one example of many rows: a small batch is then one tile.
fn rows(positions: &[u32], count: usize) -> Rows<'_> {
    Rows { positions: &positions[..count], stride: 0, count: 1 }
}

impl Linear {
    pub(crate) fn new(inputs: usize, outputs: usize, batch: usize) -> Self {
        let from = (0..batch).map(|row| (row * inputs) as u32).collect();
        let to = (0..batch).map(|row| (row * outputs) as u32).collect();
        Self { inputs, outputs, from, to }
    }

    /// y (+)= x·W.
    pub(crate) fn forward<F: Real>(
        &self,
        team: &Team,
        count: usize,
        x: &[F],
        weights: &[F],
        y: Into<'_, F>,
    ) {
        let product = Gather {
            input: x,
            from: rows(&self.from, count),
            taps: PLAIN,
            depth: self.inputs,
            weights,
            columns: self.outputs,
            to: rows(&self.to, count),
            accumulate: y.add,
        };
        gather(team, &product, y.out);
    }

    /// y += b in every row.
    pub(crate) fn add_bias<F: Real>(&self, count: usize, bias: &[F], y: &mut [F]) {
        for row in y.chunks_exact_mut(self.outputs).take(count) {
            row.iter_mut().zip(bias).for_each(|(y, &b)| *y += b);
        }
    }

    /// dx (+)= dy·Wᵀ.
    pub(crate) fn backward_input<F: Real>(
        &self,
        team: &Team,
        count: usize,
        dy: &[F],
        weights: &[F],
        scratch: &mut Scratch<F>,
        dx: Into<'_, F>,
    ) {
        let transposed = Scratch::room(scratch.tiles().0, weights.len());
        transpose(team, weights, self.inputs, self.outputs, transposed);
        let product = Gather {
            input: dy,
            from: rows(&self.to, count),
            taps: PLAIN,
            depth: self.outputs,
            weights: transposed,
            columns: self.inputs,
            to: rows(&self.from, count),
            accumulate: dx.add,
        };
        gather(team, &product, dx.out);
    }

    /// xᵀ·dy, to be computed.
    pub(crate) fn weights_product<'a, F: Real>(
        &'a self,
        count: usize,
        x: &'a [F],
        dy: &'a [F],
    ) -> Outer<'a, F> {
        Outer {
            input: x,
            from: rows(&self.from, count),
            taps: PLAIN,
            depth: self.inputs,
            gradient: dy,
            at: rows(&self.to, count),
            columns: self.outputs,
        }
    }

    /// dW += xᵀ·dy.
    pub(crate) fn backward_weights<F: Real>(
        &self,
        team: &Team,
        count: usize,
        x: &[F],
        dy: &[F],
        dw: &mut [F],
    ) {
        outer(team, &self.weights_product(count, x, dy), dw);
    }

    /// db += Σ dy.
    pub(crate) fn backward_bias<F: Real>(&self, count: usize, dy: &[F], db: &mut [F]) {
        for row in dy.chunks_exact(self.outputs).take(count) {
            db.iter_mut().zip(row).for_each(|(db, &dy)| *db += dy);
        }
    }
}
