//! Inner products of all pairs of rows, in single precision, block by block.
//!
//! The columns of the product (training items) are packed once into panels of two registers' width,
//! each panel along the depth, so that the inner loop reads one stream. A tile of up to eight rows
//! by one panel stays in registers while the loop goes over a stretch of the depth: chains of fused
//! multiply–adds, whose results are added up. Short chains round less.
//!
//! What a product may be off by is known ([`error`]), so that whoever picks by it can tell what is
//! sure and look again, in double precision, at what is not.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// Panels that are taken together: so many products of a row are handed over at a time.
const PANELS: usize = 8;
/// Steps of the depth that are taken together: one check of bounds for all of them.
const STEP: usize = 8;
/// Blocks of steps that make a chain.
const CHAIN: usize = 8;

/// The most that a product of rows of length 1 may be off by, of so many columns.
///
/// With u = 2⁻²⁴: rounding both rows to single precision moves the product by at most 2u + u², and
/// sums in which no term is rounded more than n times by at most n u / (1 − n u) more (Σ|a_i b_i| ≤ 1
/// by Cauchy and Schwarz); n is the length of a chain and the number of chains. The rest, 6 u, is
/// room for lengths that are 1 but for rounding in double precision, for numbers below the normal
/// range, and for differences of products.
pub(super) fn error(depth: usize) -> f32 {
    let chain = STEP * CHAIN;
    let roundings = chain + STEP + depth.div_ceil(chain);
    let rounding = (roundings as f64 + 8.0) / f64::from(1u32 << 24);
    // No product of unit rows is off by more than 2, whatever its length.
    if rounding < 0.5 { (rounding / (1.0 - rounding)) as f32 } else { 2.0 }
}

/// Rows packed to be multiplied with.
pub(super) struct Packed {
    depth: usize,
    rows: usize,
    /// Rows of a panel.
    panel: usize,
    /// Panel by panel, depth × panel each; zeros where the last one has no rows.
    values: Vec<f32>,
}

struct PanelWidth;

impl WithSimd for PanelWidth {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        2 * S::F32_LANES
    }
}

impl Packed {
    /// Packs rows of `depth` numbers.
    pub(super) fn new(rows: &[f64], depth: usize) -> Self {
        let panel = Arch::new().dispatch(PanelWidth);
        let count = rows.len() / depth;
        let mut values = vec![0f32; count.div_ceil(panel) * panel * depth];
        let panels = values.par_chunks_exact_mut(panel * depth);
        panels.zip(rows.par_chunks(panel * depth)).for_each(|(values, rows)| {
            for (lane, row) in rows.chunks_exact(depth).enumerate() {
                let to = values.chunks_exact_mut(panel);
                row.iter().zip(to).for_each(|(&v, to)| to[lane] = v as f32);
            }
        });
        Self { depth, rows: count, panel, values }
    }

    /// The numbers of a row.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Multiplies `items` (rows of the same depth) with all packed rows, and hands the products to
    /// `takers`, one an item: [`Take::take`] gets the place of the first row and a product for it
    /// and each of the next ones, in their order.
    pub(super) fn products(&self, items: &[f32], takers: &mut [impl Take]) {
        let products = vec![0.0; takers.len() * PANELS * self.panel];
        Arch::new().dispatch(Block { packed: self, items, products, takers });
    }
}

/// Who looks at products as they come.
pub(super) trait Take {
    /// Products of an item with the packed rows from `start` on.
    fn take(&mut self, start: usize, products: &[f32]);
}

struct Block<'a, T> {
    packed: &'a Packed,
    items: &'a [f32],
    products: Vec<f32>,
    takers: &'a mut [T],
}

impl<T: Take> WithSimd for Block<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let Packed { depth, rows, panel, ref values } = *self.packed;
        let items = self.takers.len();
        for (block, panels) in values.chunks(PANELS * panel * depth).enumerate() {
            for (p, values) in panels.chunks_exact(panel * depth).enumerate() {
                let mut item = 0;
                // Thirty-two registers hold 8×2 sums, sixteen 4×2.
                if S::REGISTER_COUNT >= 32 {
                    while item + 8 <= items {
                        self.tile::<S, 8>(simd, item, p, values);
                        item += 8;
                    }
                }
                while item + 4 <= items {
                    self.tile::<S, 4>(simd, item, p, values);
                    item += 4;
                }
                while item < items {
                    self.tile::<S, 1>(simd, item, p, values);
                    item += 1;
                }
            }
            let start = block * PANELS * panel;
            let count = (PANELS * panel).min(rows - start);
            let products = self.products.chunks_exact(PANELS * panel);
            for (taker, products) in self.takers.iter_mut().zip(products) {
                taker.take(start, &products[..count]);
            }
        }
    }
}

impl<T> Block<'_, T> {
    #[inline(always)]
    fn tile<S: Simd, const R: usize>(&mut self, simd: S, item: usize, p: usize, values: &[f32]) {
        let Packed { depth, panel, .. } = *self.packed;
        let mut totals = [[simd.splat_f32s(0.0); 2]; R];
        let x: [&[f32]; R] = std::array::from_fn(|r| &self.items[(item + r) * depth..][..depth]);
        let steps: [&[[f32; STEP]]; R] = x.map(|x| x.as_chunks::<STEP>().0);
        let (pairs, _) = S::as_simd_f32s(values).0.as_chunks::<2>();
        let (blocks, rest) = pairs.as_chunks::<STEP>();
        for (chain, blocks) in blocks.chunks(CHAIN).enumerate() {
            let mut sums = [[simd.splat_f32s(0.0); 2]; R];
            for (at, block) in blocks.iter().enumerate() {
                let x: [&[f32; STEP]; R] = std::array::from_fn(|r| &steps[r][chain * CHAIN + at]);
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
                    *total = simd.add_f32s(*total, *sum);
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
        for (r, totals) in totals.iter().enumerate() {
            let to = &mut self.products[((item + r) * PANELS + p) * panel..][..panel];
            S::as_mut_simd_f32s(to).0.iter_mut().zip(totals).for_each(|(to, total)| *to = *total);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::uniform;

    #[derive(Clone, Default)]
    struct All(Vec<f32>);

    impl Take for All {
        fn take(&mut self, start: usize, products: &[f32]) {
            assert_eq!(start, self.0.len());
            self.0.extend_from_slice(products);
        }
    }

    #[test]
    fn every_shape_has_the_bits_of_the_plain_product() {
        for (items, rows, depth) in
            [(1, 1, 1), (13, 5, 7), (8, 32, 8), (15, 300, 19), (3, 700, 203)]
        {
            let rows_of = |stream, n: usize| -> Vec<f64> {
                uniform(stream, n * depth).iter().map(|u| f64::from((u - 0.5) as f32)).collect()
            };
            let (x, y) = (rows_of(8, items), rows_of(9, rows));
            let packed = Packed::new(&y, depth);
            let single: Vec<f32> = x.iter().map(|&v| v as f32).collect();
            let mut all = vec![All::default(); items];
            packed.products(&single, &mut all);
            for (x, All(found)) in single.chunks(depth).zip(&all) {
                // Chains over whole steps, added up; what is left of the depth one by one.
                let whole = depth / STEP * STEP;
                let add = |sum: f32, x: &[f32], y: &[f64]| {
                    x.iter().zip(y).fold(sum, |sum, (&x, &y)| x.mul_add(y as f32, sum))
                };
                let product = |y: &[f64]| {
                    let chains =
                        x[..whole].chunks(STEP * CHAIN).zip(y[..whole].chunks(STEP * CHAIN));
                    let sum = chains.fold(0f32, |total, (x, y)| total + add(0.0, x, y));
                    add(sum, &x[whole..], &y[whole..])
                };
                let wanted: Vec<f32> = y.chunks(depth).map(product).collect();
                assert_eq!(found, &wanted, "{items}×{rows}×{depth}");
            }
        }
    }

    /// Equal numbers, the worst case for a chain: the sum only grows.
    #[test]
    fn the_bound_holds() {
        for depth in [1, 10, 512, 5000] {
            let one = 1.0 / (depth as f64).sqrt();
            let packed = Packed::new(&vec![one; depth], depth);
            let mut found = [All::default()];
            packed.products(&vec![one as f32; depth], &mut found);
            let off = (f64::from(found[0].0[0]) - 1.0).abs();
            assert!(off <= f64::from(error(depth)), "{depth}: {off} {}", error(depth));
        }
        assert_eq!(error(1 << 40), 2.0);
    }
}
