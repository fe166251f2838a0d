//! What happens row by row: layer norm, softmax, activations.
//!
//! * Layer norm: y = (x − mean) / √(variance + ε) · weight + bias, over a row.
//! * Softmax: y_j = e^(s·(x_j − max)) / Σ_k e^(s·(x_k − max)).
//!
//! Sums go over sixteen lanes on every machine, so that a wider register changes no bit.

use pulp::{Arch, Simd, WithSimd};

use super::math::{exp, gelu, gelu_tanh};
use super::weights::Weights;
use crate::EmbedError;

const LANES: usize = 16;

/// Makes a loop a task for `pulp`: a loop becomes wide vector code only inside a function that is
/// compiled for wide registers, and this one is always inlined into such a function.
macro_rules! vectorized {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) $body:block)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name<'a>(arch: Arch, $($arg: $type),*) {
            struct Task<'a> {
                $($arg: $type,)*
                borrows: std::marker::PhantomData<&'a ()>,
            }
            impl<'a> WithSimd for Task<'a> {
                type Output = ();
                #[inline(always)]
                fn with_simd<S: Simd>(self, _: S) {
                    let Self { $($arg,)* .. } = self;
                    $body
                }
            }
            arch.dispatch(Task { $($arg,)* borrows: std::marker::PhantomData::<&'a ()> });
        }
    )*};
}

/// Adds up lanes in pairs, the same way everywhere.
#[inline(always)]
fn total(mut lanes: [f32; LANES]) -> f32 {
    let mut half = LANES / 2;
    while half > 0 {
        for i in 0..half {
            lanes[i] += lanes[i + half];
        }
        half /= 2;
    }
    lanes[0]
}

/// Σ f(x) over a row.
#[inline(always)]
fn sum(row: &[f32], f: impl Fn(f32, f32) -> f32) -> f32 {
    let (chunks, rest) = row.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for chunk in chunks {
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane = f(*lane, x);
        }
    }
    for (lane, &x) in lanes.iter_mut().zip(rest) {
        *lane = f(*lane, x);
    }
    total(lanes)
}

/// A layer norm's parameters.
pub(crate) struct Norm {
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
    pub(crate) epsilon: f32,
}

impl Norm {
    /// The one of this name.
    pub(crate) fn read(
        weights: &Weights<'_>,
        name: &str,
        width: usize,
        epsilon: f32,
    ) -> Result<Self, EmbedError> {
        let get = |part: &str| weights.get(&format!("{name}.{part}"), &[width]);
        Ok(Self { weight: get("weight")?, bias: get("bias")?, epsilon })
    }

    /// Normalizes every row in place.
    pub(crate) fn apply(&self, arch: Arch, rows: &mut [f32]) {
        normalize(arch, rows, &self.weight, &self.bias, self.epsilon);
    }
}

vectorized! {
    /// Layer norm of every row.
    fn normalize(rows: &'a mut [f32], weight: &'a [f32], bias: &'a [f32], epsilon: f32) {
        for row in rows.chunks_exact_mut(weight.len()) {
            let scale = 1.0 / row.len() as f32;
            let mean = sum(row, |sum, x| sum + x) * scale;
            let spread = sum(row, |sum, x| (x - mean).mul_add(x - mean, sum)) * scale;
            let factor = 1.0 / (spread + epsilon).sqrt();
            for ((x, &w), &b) in row.iter_mut().zip(weight).zip(bias) {
                *x = ((*x - mean) * factor).mul_add(w, b);
            }
        }
    }

    /// Softmax of every row of `width` numbers, after multiplying by `scale` > 0.
    fn softmax(rows: &'a mut [f32], width: usize, scale: f32) {
        for row in rows.chunks_exact_mut(width) {
            let (chunks, rest) = row.as_chunks::<LANES>();
            let mut most = [f32::NEG_INFINITY; LANES];
            for chunk in chunks {
                for (most, &x) in most.iter_mut().zip(chunk) {
                    *most = if x > *most { x } else { *most };
                }
            }
            let most = most.iter().chain(rest).fold(f32::NEG_INFINITY, |a, &b| a.max(b));
            for x in row.iter_mut() {
                *x = exp((*x - most) * scale);
            }
            let share = 1.0 / sum(row, |sum, x| sum + x);
            for x in row.iter_mut() {
                *x *= share;
            }
        }
    }

    /// GELU of every number.
    fn gelu_all(numbers: &'a mut [f32]) {
        for x in numbers.iter_mut() {
            *x = gelu(*x);
        }
    }

    /// GELU's tanh form of every number.
    fn gelu_tanh_all(numbers: &'a mut [f32]) {
        for x in numbers.iter_mut() {
            *x = gelu_tanh(*x);
        }
    }
}

/// A vector divided by its length (at least 1e-12, as PyTorch does).
pub(crate) fn unit(vector: &mut [f32]) {
    let length = sum(vector, |sum, x| x.mul_add(x, sum)).sqrt().max(1e-12);
    vector.iter_mut().for_each(|x| *x /= length);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transformer::testing::numbers;

    #[test]
    fn norm_and_softmax_follow_their_formulas() {
        let arch = Arch::new();
        for width in [1, 5, 16, 50] {
            let (x, weight, bias) = (numbers(3 * width), numbers(width), numbers(width));
            let norm = Norm { weight: weight.clone(), bias: bias.clone(), epsilon: 1e-5 };
            let (mut normed, mut soft) = (x.clone(), x.clone());
            norm.apply(arch, &mut normed);
            softmax(arch, &mut soft, width, 3.0);
            for (at, row) in x.chunks(width).enumerate() {
                let row: Vec<f64> = row.iter().map(|&x| f64::from(x)).collect();
                let mean = row.iter().sum::<f64>() / width as f64;
                let spread = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / width as f64;
                let whole: f64 = row.iter().map(|x| (3.0 * x).exp()).sum();
                for (j, x) in row.iter().enumerate() {
                    let (w, b) = (f64::from(weight[j]), f64::from(bias[j]));
                    let wanted = (x - mean) / (spread + 1e-5).sqrt() * w + b;
                    assert!((f64::from(normed[at * width + j]) - wanted).abs() < 2e-6);
                    let wanted = (3.0 * x).exp() / whole;
                    assert!((f64::from(soft[at * width + j]) - wanted).abs() < 1e-6);
                }
            }
        }
    }

    #[test]
    fn far_scores_do_not_overflow() {
        let mut row = [3e38, -3e38, 3e38, f32::MIN];
        softmax(Arch::new(), &mut row, 4, 1.0);
        assert!((row[0] - 0.5).abs() < 1e-6 && row[1] < 1e-30, "{row:?}");
    }

    #[test]
    fn a_unit_vector_has_length_1_and_zeros_stay() {
        let mut vector = numbers(37);
        unit(&mut vector);
        let length: f32 = vector.iter().map(|x| x * x).sum();
        assert!((length - 1.0).abs() < 1e-6);
        let mut zeros = [0.0; 3];
        unit(&mut zeros);
        assert_eq!(zeros, [0.0; 3]);
    }
}
