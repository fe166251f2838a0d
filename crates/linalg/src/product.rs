//! y = x·W (+ b), tile by tile.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use crate::Packed;

/// Steps of the depth that are taken together: one check of bounds for all of them.
pub const STEP: usize = 8;
/// Blocks of steps that make a short chain.
const BLOCKS: usize = 8;
/// Multiply–adds of a short chain.
pub const CHAIN_LENGTH: usize = STEP * BLOCKS;

/// How the terms of an element are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chains {
    /// In one chain over the whole depth, which begins with the bias.
    One,
    /// In chains of [`CHAIN_LENGTH`], whose results are added up, as short chains round less; what is
    /// left of the depth after whole steps of [`STEP`] is added one by one.
    Short,
}

/// A product to be computed. Rows of `x` and `out` may be parts of longer ones.
pub struct Product<'a> {
    /// Rows of the packed matrix's depth, `x_stride` apart.
    pub x: &'a [f32],
    /// From one row of `x` to the next.
    pub x_stride: usize,
    pub rows: usize,
    /// The matrix.
    pub w: &'a Packed,
    /// The columns to compute; they begin at a multiple of [`Packed::panel`].
    pub columns: Range<usize>,
    /// As many numbers as [`Packed::padded`] says, or none.
    pub bias: &'a [f32],
    /// Rows of these columns, `out_stride` apart.
    pub out: &'a mut [f32],
    /// From one row of `out` to the next.
    pub out_stride: usize,
    /// Whether the product is added to what is there.
    pub add: bool,
    /// How the terms of an element are added.
    pub chains: Chains,
}

impl<'a> Product<'a> {
    /// The whole product of `rows` rows that lie one after another.
    pub fn new(x: &'a [f32], rows: usize, w: &'a Packed, out: &'a mut [f32]) -> Self {
        let (x_stride, columns, out_stride) = (w.depth, 0..w.columns, w.columns);
        let (bias, add, chains) = (&[][..], false, Chains::One);
        Self { x, x_stride, rows, w, columns, bias, out, out_stride, add, chains }
    }

    /// Computes it on the thread that calls.
    pub fn compute(self, arch: Arch) {
        match self.chains {
            Chains::One => arch.dispatch(Tiles::<false>(self)),
            Chains::Short => arch.dispatch(Tiles::<true>(self)),
        }
    }
}

struct Tiles<'a, const SHORT: bool>(Product<'a>);

impl<const SHORT: bool> WithSimd for Tiles<'_, SHORT> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let (depth, panel) = (self.0.w.depth, self.0.w.panel);
        let panels = self.0.columns.start / panel..self.0.columns.end.div_ceil(panel);
        for p in panels {
            let values = &self.0.w.values[p * depth * panel..][..depth * panel];
            let zero = [simd.splat_f32s(0.0); 2];
            let bias = self.0.bias.get(p * panel..(p + 1) * panel);
            let start = bias.map_or(zero, |bias| pair::<S>(bias).unwrap_or(zero));
            let mut row = 0;
            // Thirty-two registers hold 8×2 accumulators, sixteen 4×2.
            if S::REGISTER_COUNT >= 32 {
                while row + 8 <= self.0.rows {
                    self.tile::<S, 8>(simd, row, p, values, start);
                    row += 8;
                }
            }
            while row + 4 <= self.0.rows {
                self.tile::<S, 4>(simd, row, p, values, start);
                row += 4;
            }
            while row < self.0.rows {
                self.tile::<S, 1>(simd, row, p, values, start);
                row += 1;
            }
        }
    }
}

#[inline(always)]
fn pair<S: Simd>(numbers: &[f32]) -> Option<[S::f32s; 2]> {
    S::as_simd_f32s(numbers).0.first_chunk::<2>().copied()
}

impl<const SHORT: bool> Tiles<'_, SHORT> {
    #[inline(always)]
    fn tile<S: Simd, const R: usize>(
        &mut self,
        simd: S,
        row: usize,
        p: usize,
        values: &[f32],
        start: [S::f32s; 2],
    ) {
        let product = &mut self.0;
        let depth = product.w.depth;
        let x: [&[f32]; R] =
            std::array::from_fn(|r| &product.x[(row + r) * product.x_stride..][..depth]);
        let steps: [&[[f32; STEP]]; R] = x.map(|x| x.as_chunks::<STEP>().0);
        let (pairs, _) = S::as_simd_f32s(values).0.as_chunks::<2>();
        let (blocks, rest) = pairs.as_chunks::<STEP>();
        let mut totals = [start; R];
        let length = if SHORT { BLOCKS } else { blocks.len().max(1) };
        for (chain, blocks) in blocks.chunks(length).enumerate() {
            let mut sums = if SHORT { [[simd.splat_f32s(0.0); 2]; R] } else { totals };
            for (at, block) in blocks.iter().enumerate() {
                let x: [&[f32; STEP]; R] = std::array::from_fn(|r| &steps[r][chain * length + at]);
                for k in 0..STEP {
                    for r in 0..R {
                        let x = simd.splat_f32s(x[r][k]);
                        for v in 0..2 {
                            sums[r][v] = simd.mul_add_f32s(x, block[k][v], sums[r][v]);
                        }
                    }
                }
            }
            for (totals, sums) in totals.iter_mut().zip(&sums) {
                for (total, sum) in totals.iter_mut().zip(sums) {
                    *total = if SHORT { simd.add_f32s(*total, *sum) } else { *sum };
                }
            }
        }
        for (k, pair) in rest.iter().enumerate() {
            for r in 0..R {
                let x = simd.splat_f32s(x[r][depth - rest.len() + k]);
                for v in 0..2 {
                    totals[r][v] = simd.mul_add_f32s(x, pair[v], totals[r][v]);
                }
            }
        }
        let column = p * product.w.panel;
        let width = product.w.panel.min(product.columns.end - column);
        let column = column - product.columns.start;
        for (r, totals) in totals.iter().enumerate() {
            let to = &mut product.out[(row + r) * product.out_stride + column..][..width];
            for (part, &total) in to.chunks_mut(S::F32_LANES).zip(totals) {
                if let ([whole], []) = S::as_mut_simd_f32s(part) {
                    *whole = if product.add { simd.add_f32s(*whole, total) } else { total };
                } else {
                    let there = simd.partial_load_f32s(part);
                    let total = if product.add { simd.add_f32s(there, total) } else { total };
                    simd.partial_store_f32s(part, total);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers;

    const SHAPES: [(usize, usize, usize); 8] = [
        (1, 1, 1),
        (3, 5, 7),
        (8, 8, 32),
        (13, 19, 33),
        (9, 64, 70),
        (20, 7, 16),
        (3, 203, 700),
        (15, 130, 300),
    ];

    /// The terms of an element, added as the documentation says, one after another.
    fn plainly(x: &[f32], w: &[f32], bias: &[f32], depth: usize, chains: Chains) -> Vec<f32> {
        let columns = w.len() / depth;
        let element = |row: &[f32], j: usize| {
            let chain = |start: f32, ks: Range<usize>| {
                ks.fold(start, |sum, k| row[k].mul_add(w[k * columns + j], sum))
            };
            let start = bias.get(j).copied().unwrap_or(0.0);
            if chains == Chains::One {
                return chain(start, 0..depth);
            }
            let whole = depth / STEP * STEP;
            let starts = (0..whole).step_by(CHAIN_LENGTH);
            let sum =
                starts.fold(start, |total, k| total + chain(0.0, k..(k + CHAIN_LENGTH).min(whole)));
            chain(sum, whole..depth)
        };
        x.chunks(depth).flat_map(|row| (0..columns).map(|j| element(row, j))).collect()
    }

    #[test]
    fn every_shape_has_the_bits_of_the_plain_product() {
        let arch = Arch::new();
        for ((rows, depth, columns), chains) in
            SHAPES.into_iter().flat_map(|shape| [(shape, Chains::One), (shape, Chains::Short)])
        {
            let (x, w) = (numbers(rows * depth, 1), numbers(depth * columns, 2));
            let mut packed = Packed::empty(arch);
            packed.fill(&w, columns, depth, columns);
            let mut bias = numbers(columns, 3);
            bias.resize(packed.padded(), 0.0);
            for bias in [&bias[..], &[]] {
                let mut out = vec![1.0; rows * columns];
                let compute = |add, out: &mut [f32]| {
                    let product = Product::new(&x, rows, &packed, out);
                    Product { bias, chains, add, ..product }.compute(arch);
                };
                compute(false, &mut out);
                let wanted = plainly(&x, &w, bias, depth, chains);
                assert_eq!(out, wanted, "{rows}×{depth}×{columns}");
                compute(true, &mut out);
                let twice: Vec<f32> = wanted.iter().map(|y| y + y).collect();
                assert_eq!(out, twice, "{rows}×{depth}×{columns}, added");
            }
        }
    }

    #[test]
    fn some_columns_at_a_time_have_the_same_bits() {
        let arch = Arch::new();
        let (rows, depth, columns) = (11, 70, 150);
        let x = numbers(rows * depth, 4);
        let transposed: Vec<f64> = numbers(columns * depth, 5).into_iter().map(f64::from).collect();
        let packed = Packed::of_transposed(arch, &transposed, depth);
        let mut whole = vec![0.0; rows * columns];
        Product::new(&x, rows, &packed, &mut whole).compute(arch);
        let some = 2 * packed.panel();
        for start in (0..columns).step_by(some) {
            let columns_of = start..(start + some).min(columns);
            let mut out = vec![0.0; rows * some];
            let (columns, out_stride) = (columns_of.clone(), some);
            Product { columns, out_stride, ..Product::new(&x, rows, &packed, &mut out) }
                .compute(arch);
            for (out, whole) in out.chunks(some).zip(whole.chunks(150)) {
                assert_eq!(out[..columns_of.len()], whole[columns_of.clone()]);
            }
        }
    }

    #[test]
    fn strides_and_the_transposed_form() {
        let arch = Arch::new();
        let (rows, depth, columns) = (5, 6, 35);
        let (x, w) = (numbers(rows * (depth + 2), 6), numbers(depth * columns, 7));
        let transposed: Vec<f32> = (0..columns)
            .flat_map(|j| (0..depth + 1).map(move |k| (j, k)))
            .map(|(j, k)| if k < depth { w[k * columns + j] } else { 9.0 })
            .collect();
        let mut packed = Packed::empty(arch);
        packed.fill_transposed(&transposed, depth + 1, depth, columns);
        let mut out = vec![0.5; rows * (columns + 3)];
        let (x_stride, out_stride) = (depth + 2, columns + 3);
        Product { x_stride, out_stride, ..Product::new(&x, rows, &packed, &mut out) }.compute(arch);
        let x: Vec<f32> = x.chunks(depth + 2).flat_map(|row| &row[..depth]).copied().collect();
        let wanted = plainly(&x, &w, &[], depth, Chains::One);
        for (out, wanted) in out.chunks(columns + 3).zip(wanted.chunks(columns)) {
            assert_eq!(out[..columns], *wanted);
            assert_eq!(out[columns..], [0.5; 3], "what lies between rows stays");
        }
    }
}
