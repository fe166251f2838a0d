//! Products with a matrix that is known beforehand: y = clip(x·W + b).
//!
//! W (depth × columns) is packed into panels of two vector registers' width (one, where that is
//! enough for the last), padded with zeros, so that the inner loop reads it from front to back. A
//! tile is up to eight rows of x by one panel. Every number is one chain of fused multiply–adds
//! from the bias over the depth in order: neither the tile it falls into nor the width of the
//! registers changes it.

use pulp::{Arch, Simd, WithSimd};

/// Rows of x that are worked on together, so that they stay in the cache over all panels.
const BLOCK: usize = 64;

/// A matrix with a bias, ready to be multiplied with.
#[derive(Debug)]
pub(super) struct Packed {
    depth: usize,
    columns: usize,
    panels: Vec<f32>,
    /// As wide as all panels.
    bias: Vec<f32>,
}

/// Where rows lie in a larger whole: `width` numbers from `start` on, `stride` apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stripe {
    pub(super) start: usize,
    pub(super) stride: usize,
}

struct Lanes;

impl WithSimd for Lanes {
    type Output = usize;
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        S::F32_LANES
    }
}

impl Packed {
    /// Packs W, given by row and column; the bias has a number a column, or none.
    pub(super) fn new(
        [depth, columns]: [usize; 2],
        weight: impl Fn(usize, usize) -> f32,
        bias: &[f32],
    ) -> Self {
        let lanes = Arch::new().dispatch(Lanes);
        let padded = columns.next_multiple_of(lanes);
        let mut panels = Vec::with_capacity(depth * padded);
        let mut start = 0;
        while start < padded {
            let end = (start + 2 * lanes).min(padded);
            for row in 0..depth {
                let number = |column| if column < columns { weight(row, column) } else { 0.0 };
                panels.extend((start..end).map(number));
            }
            start = end;
        }
        let bias = bias.iter().copied().chain(std::iter::repeat(0.0)).take(padded).collect();
        Self { depth, columns, panels, bias }
    }

    /// Numbers of a row of x.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Numbers of a row of y.
    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// y\[r\] = clip(x\[r\]·W + b) for rows of x that lie one after the other; y's lie as said.
    pub(super) fn multiply(&self, x: &[f32], y: &mut [f32], to: Stripe, bounds: Bounds) {
        Arch::new().dispatch(Product { packed: self, x, y, to, bounds });
    }
}

/// The lowest and the highest number that may come out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds(pub(super) f32, pub(super) f32);

impl Bounds {
    /// Anything.
    pub(super) const NONE: Self = Self(f32::NEG_INFINITY, f32::INFINITY);
    /// Nothing below 0.
    pub(super) const POSITIVE: Self = Self(0.0, f32::INFINITY);

    #[inline(always)]
    pub(super) fn clip<S: Simd>(self, simd: S, numbers: S::f32s) -> S::f32s {
        let above = simd.max_f32s(numbers, simd.splat_f32s(self.0));
        simd.min_f32s(above, simd.splat_f32s(self.1))
    }
}

struct Product<'a> {
    packed: &'a Packed,
    x: &'a [f32],
    y: &'a mut [f32],
    to: Stripe,
    bounds: Bounds,
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let (packed, lanes) = (self.packed, S::F32_LANES);
        let rows = self.x.len().checked_div(packed.depth).unwrap_or(0);
        for start in (0..rows).step_by(BLOCK) {
            let block = start..(start + BLOCK).min(rows);
            let mut column = 0;
            while column < packed.bias.len() {
                let width = (2 * lanes).min(packed.bias.len() - column);
                match width == 2 * lanes {
                    true => self.panel::<S, 2>(simd, block.clone(), column),
                    false => self.panel::<S, 1>(simd, block.clone(), column),
                }
                column += width;
            }
        }
    }
}

impl Product<'_> {
    #[inline(always)]
    fn panel<S: Simd, const V: usize>(
        &mut self,
        simd: S,
        rows: std::ops::Range<usize>,
        column: usize,
    ) {
        let mut row = rows.start;
        // Sixteen registers hold 4×2 sums, thirty-two 8×2.
        if S::REGISTER_COUNT >= 32 {
            while row + 8 <= rows.end {
                self.tile::<S, 8, V>(simd, row, column);
                row += 8;
            }
        }
        while row + 4 <= rows.end {
            self.tile::<S, 4, V>(simd, row, column);
            row += 4;
        }
        while row < rows.end {
            self.tile::<S, 1, V>(simd, row, column);
            row += 1;
        }
    }

    #[inline(always)]
    fn tile<S: Simd, const R: usize, const V: usize>(
        &mut self,
        simd: S,
        row: usize,
        column: usize,
    ) {
        let (depth, lanes) = (self.packed.depth, S::F32_LANES);
        let weights = &self.packed.panels[column * depth..][..V * lanes * depth];
        let weights = S::as_simd_f32s(weights).0.as_chunks::<V>().0;
        let bias = S::as_simd_f32s(&self.packed.bias[column..][..V * lanes]).0;
        let x = &self.x[row * depth..][..R * depth];
        // Cut to the depth one by one, so that the loop below has nothing to check.
        let mut rows = [x; R];
        for (r, row) in rows.iter_mut().enumerate() {
            *row = &x[r * depth..][..depth];
        }
        let mut sums = [[bias[0]; V]; R];
        for sums in &mut sums {
            sums.copy_from_slice(&bias[..V]);
        }
        let weights = &weights[..depth];
        for k in 0..depth {
            let b = weights[k];
            for r in 0..R {
                let a = simd.splat_f32s(rows[r][k]);
                for v in 0..V {
                    sums[r][v] = simd.mul_add_f32s(a, b[v], sums[r][v]);
                }
            }
        }
        let width = (V * lanes).min(self.packed.columns - column);
        for (r, sums) in sums.iter().enumerate() {
            let y = &mut self.y[self.to.start + (row + r) * self.to.stride + column..][..width];
            for (y, sum) in y.chunks_mut(lanes).zip(sums) {
                simd.partial_store_f32s(y, self.bounds.clip(simd, *sum));
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_of_tile_is_right() {
        for (rows, depth, columns) in [(1, 1, 1), (13, 5, 70), (70, 33, 16), (9, 3, 31), (4, 8, 0)]
        {
            let x: Vec<f32> = (0..rows * depth).map(|i| (i % 7) as f32 - 3.0).collect();
            let w = |k: usize, j: usize| ((k * 3 + j * 5) % 11) as f32 - 5.0;
            let bias: Vec<f32> = (0..columns).map(|j| j as f32).collect();
            let packed = Packed::new([depth, columns], w, &bias);
            let mut y = vec![f32::NAN; rows * (columns + 2)];
            let to = Stripe { start: 1, stride: columns + 2 };
            packed.multiply(&x, &mut y, to, Bounds(-20.0, 50.0));
            for row in 0..rows {
                let y = &y[row * (columns + 2)..][..columns + 2];
                assert!(y[0].is_nan() && y[columns + 1].is_nan(), "beside the stripe");
                for j in 0..columns {
                    let sum: f32 = (0..depth).map(|k| x[row * depth + k] * w(k, j)).sum();
                    assert_eq!(y[1 + j], (sum + bias[j]).clamp(-20.0, 50.0), "{row} {j}");
                }
            }
        }
    }
}
