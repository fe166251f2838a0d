//! GFLOP/s of the product, with a matrix packed once and packed for every product.
//!
//!     cargo run --release -p dissensus-linalg --example speed

#![allow(clippy::print_stdout)]

use std::time::Instant;

use dissensus_linalg::{Arch, Chains, Packed, Product};

fn main() {
    let arch = Arch::new();
    // An encoder's layers, an MLP's step, a search for neighbours.
    for (rows, depth, columns) in
        [(128, 384, 1536), (128, 1536, 384), (128, 384, 256), (128, 256, 10), (128, 512, 4096)]
    {
        let numbers = |n: usize| (0..n).map(|i| (i % 17) as f32 - 8.0).collect::<Vec<f32>>();
        let (x, w) = (numbers(rows * depth), numbers(depth * columns));
        let mut out = vec![0.0; rows * columns];
        let mut packed = Packed::empty(arch);
        packed.fill(&w, columns, depth, columns);
        let flops = 2.0 * (rows * depth * columns) as f64;
        let mut time = |what: &str, anew: bool, chains: Chains| {
            let best = (0..200).map(|_| {
                let begun = Instant::now();
                if anew {
                    packed.fill(&w, columns, depth, columns);
                }
                Product { chains, ..Product::new(&x, rows, &packed, &mut out) }.compute(arch);
                begun.elapsed().as_secs_f64()
            });
            let best = best.fold(f64::INFINITY, f64::min);
            println!("{rows}×{depth}×{columns}, {what}: {:.1} GFLOP/s", flops / best / 1e9);
        };
        time("packed once", false, Chains::One);
        time("packed once, short chains", false, Chains::Short);
        time("packed every time", true, Chains::One);
    }
}
