//! Sums over long vectors: in parallel, in f64, and in an order that their length alone fixes.
//!
//! A vector is cut into stretches of [`STRETCH`] numbers whatever the number of threads; each
//! stretch is summed by one of them, and the sums of stretches are added in their order.

pub(crate) use dissensus_engine::inner;

use dissensus_engine::Real;
use rayon::prelude::*;

use crate::GeometryError;
use crate::error::finite;

pub(crate) const STRETCH: usize = 1 << 16;

/// Numbers that are corrected at a time, in f64: few enough to stay in the cache.
const PIECE: usize = 1 << 10;

/// What `of` gives for every stretch of two vectors and its number. A short vector is not worth
/// waking other threads.
fn stretches<F: Real, T: Send>(
    a: &[F],
    b: &[F],
    of: impl Fn(usize, &[F], &[F]) -> T + Sync,
) -> Vec<T> {
    if a.len().max(b.len()) <= STRETCH {
        return vec![of(0, a, b)];
    }
    let pairs = a.par_chunks(STRETCH).zip(b.par_chunks(STRETCH)).enumerate();
    pairs.map(|(number, (a, b))| of(number, a, b)).collect()
}

/// The same for the stretches of a vector that is changed.
fn change<F: Real>(a: &mut [F], with: impl Fn(usize, &mut [F]) + Sync) {
    if a.len() <= STRETCH {
        return with(0, a);
    }
    a.par_chunks_mut(STRETCH).enumerate().for_each(|(number, a)| with(number, a));
}

/// a · b.
pub(crate) fn dot<F: Real>(a: &[F], b: &[F]) -> f64 {
    stretches(a, b, |_, a, b| inner(a, b)).iter().sum()
}

/// ‖a‖.
pub(crate) fn norm<F: Real>(a: &[F]) -> f64 {
    dot(a, a).sqrt()
}

/// ‖a − s·b‖, without the cancellation of ‖a‖² − s².
pub(crate) fn distance<F: Real>(a: &[F], scale: f64, b: &[F]) -> f64 {
    let squares = |_, a: &[F], b: &[F]| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a.wide() - scale * b.wide()).powi(2)).sum()
    };
    stretches(a, b, squares).iter().sum::<f64>().sqrt()
}

/// a · s.
pub(crate) fn scale<F: Real>(a: &mut [F], by: f64) {
    change(a, |_, a| a.iter_mut().for_each(|a| *a = F::of(a.wide() * by)));
}

/// How coarse numbers of this kind are.
pub(crate) fn epsilon<F: Real>() -> f64 {
    if size_of::<F>() == size_of::<f32>() { f64::from(f32::EPSILON) } else { f64::EPSILON }
}

/// Orthonormal vectors.
#[derive(Debug, Default)]
pub(crate) struct Basis<F> {
    vectors: Vec<Vec<F>>,
}

impl<F: Real> Basis<F> {
    pub(crate) fn new() -> Self {
        Self { vectors: Vec::new() }
    }

    pub(crate) fn vectors(&self) -> &[Vec<F>] {
        &self.vectors
    }

    /// Takes away from `w` what lies in the span. Twice: what the first time leaves by rounding is
    /// itself as large as the whole when `w` lay almost in the span.
    pub(crate) fn project_out(&self, w: &mut [F]) {
        for _ in 0..2 {
            let along = self.coefficients(w);
            change(w, |stretch, w| {
                for (piece, w) in w.chunks_mut(PIECE).enumerate() {
                    let from = stretch * STRETCH + piece * PIECE;
                    let mut wide = [0.0; PIECE];
                    let wide = &mut wide[..w.len()];
                    wide.iter_mut().zip(&*w).for_each(|(wide, w)| *wide = w.wide());
                    for (vector, c) in self.vectors.iter().zip(&along) {
                        let vector = &vector[from..from + wide.len()];
                        wide.iter_mut().zip(vector).for_each(|(wide, q)| *wide -= c * q.wide());
                    }
                    w.iter_mut().zip(wide).for_each(|(w, wide)| *w = F::of(*wide));
                }
            });
        }
    }

    fn coefficients(&self, w: &[F]) -> Vec<f64> {
        let parts = stretches(w, w, |number, w, _| -> Vec<f64> {
            let from = number * STRETCH;
            self.vectors.iter().map(|q| inner(&q[from..from + w.len()], w)).collect()
        });
        let mut sums = vec![0.0; self.vectors.len()];
        for part in parts {
            sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
        sums
    }

    /// Makes `w` orthogonal to all and adds it at length 1; gives its length before that. A vector
    /// that is left no longer than `least` is not added.
    pub(crate) fn extend(&mut self, mut w: Vec<F>, least: f64) -> Result<f64, GeometryError> {
        self.project_out(&mut w);
        let length = finite(|| "the length of a product".to_owned(), norm(&w), PRODUCTS)?;
        if length > least {
            scale(&mut w, 1.0 / length);
            self.vectors.push(w);
        }
        Ok(length)
    }
}

/// What to look at when products are not finite.
pub(crate) const PRODUCTS: &str = "; look at the weights and the targets";

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use dissensus_core::philox::Stream;

    use super::*;

    fn noise(seed: u64, len: usize) -> Vec<f32> {
        let mut stream = Stream::new([seed, 0], [0; 3]);
        (0..len).map(|_| stream.normal() as f32).collect()
    }

    #[test]
    fn sums_do_not_depend_on_threads() {
        let (a, b) = (noise(1, 3 * STRETCH + 77), noise(2, 3 * STRETCH + 77));
        let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let run = || {
            let mut basis = Basis::new();
            basis.extend(a.clone(), 0.0).unwrap();
            basis.extend(b.clone(), 0.0).unwrap();
            (dot(&a, &b), distance(&a, 0.3, &b), basis.vectors)
        };
        assert!(pool(1).install(run) == pool(3).install(run));
        let plain: f64 = a.iter().zip(&b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        assert!((dot(&a, &b) - plain).abs() < 1e-9);
        let plain: f64 =
            a.iter().zip(&b).map(|(a, b)| (f64::from(*a) - 0.3 * f64::from(*b)).powi(2)).sum();
        assert!((distance(&a, 0.3, &b) - plain.sqrt()).abs() < 1e-9);
    }

    /// A vector almost in the span of others comes out orthogonal to them to the last bits.
    #[test]
    fn bases_stay_orthonormal() {
        let mut basis = Basis::new();
        let first = noise(3, 1000);
        basis.extend(first.clone(), 0.0).unwrap();
        let near: Vec<f32> = first.iter().zip(noise(4, 1000)).map(|(a, e)| a + 1e-4 * e).collect();
        assert!(basis.extend(near, 0.0).unwrap() < 0.01);
        let [a, b] = &basis.vectors[..] else { unreachable!() };
        assert!(dot(a, b).abs() < 1e-6, "{}", dot(a, b));
        assert!((norm(b) - 1.0).abs() < 1e-6);
        assert!(basis.extend(first, 0.1).unwrap() < 1e-4);
        assert_eq!(basis.vectors.len(), 2);
    }

    #[test]
    fn what_is_not_finite_is_refused() {
        let error = Basis::new().extend(vec![1.0, f64::NAN], 0.0).unwrap_err().to_string();
        assert!(error.contains("NaN; expected a finite number; look at"), "{error}");
    }
}
