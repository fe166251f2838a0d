//! Inner products of all pairs of rows, in single precision, block by block.
//!
//! The rows of the training items are packed once ([`Packed`]); items are multiplied with so many of
//! them at a time that the products stay in the cache while they are looked at. Terms are added in
//! short chains, which round less than one long chain.
//!
//! What a product may be off by is known ([`error`]), so that whoever picks by it can tell what is
//! sure and look again, in double precision, at what is not.

use dissensus_linalg::{Arch, CHAIN_LENGTH, Chains, Packed, Product, STEP};

/// Panels that are taken together: so many products of a row are handed over at a time.
const PANELS: usize = 8;

/// The most that a product of rows of length 1 may be off by, of so many columns.
///
/// With u = 2⁻²⁴: rounding both rows to single precision moves the product by at most 2u + u², and
/// sums in which no term is rounded more than n times by at most n u / (1 − n u) more (Σ|a_i b_i| ≤ 1
/// by Cauchy and Schwarz); n is the length of a chain and the number of chains. The rest, 6 u, is
/// room for lengths that are 1 but for rounding in double precision, for numbers below the normal
/// range, and for differences of products.
pub(super) fn error(depth: usize) -> f32 {
    let roundings = CHAIN_LENGTH + STEP + depth.div_ceil(CHAIN_LENGTH);
    let rounding = (roundings as f64 + 8.0) / f64::from(1u32 << 24);
    // No product of unit rows is off by more than 2, whatever its length.
    if rounding < 0.5 { (rounding / (1.0 - rounding)) as f32 } else { 2.0 }
}

/// Packs rows of `depth` numbers to be multiplied with.
pub(super) fn packed(rows: &[f64], depth: usize) -> Packed {
    Packed::of_transposed(Arch::new(), rows, depth)
}

/// Receives products as they come.
pub(super) trait Take {
    /// Products of an item with the packed rows from `start` on.
    fn take(&mut self, start: usize, products: &[f32]);
}

/// Multiplies `items` (rows of the same depth) with all packed rows, and hands the products to
/// `takers`, one per item: [`Take::take`] gets the place of the first row and a product for it and
/// each of the next ones, in their order.
pub(super) fn products(packed: &Packed, items: &[f32], takers: &mut [impl Take]) {
    let arch = Arch::new();
    let width = PANELS * packed.panel();
    let mut products = vec![0.0; takers.len() * width];
    for start in (0..packed.columns()).step_by(width) {
        let columns = start..(start + width).min(packed.columns());
        let product = Product::new(items, takers.len(), packed, &mut products);
        Product { columns: columns.clone(), out_stride: width, chains: Chains::Short, ..product }
            .compute(arch);
        for (taker, products) in takers.iter_mut().zip(products.chunks_exact(width)) {
            taker.take(start, &products[..columns.len()]);
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
            let packed = packed(&y, depth);
            let single: Vec<f32> = x.iter().map(|&v| v as f32).collect();
            let mut all = vec![All::default(); items];
            products(&packed, &single, &mut all);
            for (x, All(found)) in single.chunks(depth).zip(&all) {
                // Chains over whole steps, added up; what is left of the depth one by one.
                let whole = depth / STEP * STEP;
                let add = |sum: f32, x: &[f32], y: &[f64]| {
                    x.iter().zip(y).fold(sum, |sum, (&x, &y)| x.mul_add(y as f32, sum))
                };
                let product = |y: &[f64]| {
                    let chains =
                        x[..whole].chunks(CHAIN_LENGTH).zip(y[..whole].chunks(CHAIN_LENGTH));
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
            let packed = packed(&vec![one; depth], depth);
            let mut found = [All::default()];
            products(&packed, &vec![one as f32; depth], &mut found);
            let off = (f64::from(found[0].0[0]) - 1.0).abs();
            assert!(off <= f64::from(error(depth)), "{depth}: {off} {}", error(depth));
        }
        assert_eq!(error(1 << 40), 2.0);
    }
}
