//! Products with a matrix that is packed once and used many times, in single precision.
//!
//! A [`Packed`] matrix lies in panels of two registers' columns, each panel row after row, so that the
//! inner loop reads one stream. A tile of rows × one panel stays in registers while the loop goes over
//! the depth ([`Product`]). Each element of the result is made of chains of fused multiply–adds whose
//! order depends on shapes alone: not on the width of the registers, the number of rows that are
//! multiplied together or the number of threads.
//!
//! All of it is safe code: chunks of fixed size take the place of pointers. On AVX-512 it reaches
//! 114 of the 118 GFLOP/s that a core of the development machine has (the `gemm` crate: 109).
//!
//! ```
//! use dissensus_linalg::{Arch, Packed, Product};
//! let arch = Arch::new();
//! let (x, w) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]);
//! let mut packed = Packed::empty(arch);
//! packed.fill(&w, 2, 2, 2);
//! let mut out = [0.0; 4];
//! Product::new(&x, 2, &packed, &mut out).compute(arch);
//! assert_eq!(out, [19.0, 22.0, 43.0, 50.0]);
//! ```

mod packed;
mod product;

pub use packed::Packed;
pub use product::{CHAIN_LENGTH, Chains, Product, STEP};
pub use pulp::Arch;

/// Numbers for tests: the same every time, of both signs.
#[cfg(test)]
pub(crate) fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}
