//! Binary cross-entropy of each class, added up: ℓ = Σ_k [ln(1 + exp z_k) − p_k·z_k], dz = σ(z) − p, and
//! the tangent of dz along ż: σ(z)(1 − σ(z)) ⊙ ż. Each output answers by itself whether an example is of
//! its class, so the probabilities σ(z) need not sum to 1 over the classes.
//!
//! It is the sum over the classes, not their mean: its gradient is as large as that of the softmax
//! cross-entropy.

use super::{Link, Loss, LossEntry, of_one_label};
use crate::scalar::Real;

pub(super) const ENTRY: LossEntry = LossEntry {
    loss: Loss::BinaryCrossEntropy,
    name: "binary_cross_entropy",
    description: "one sigmoid per class; the sum over the classes of -p ln q - (1 - p) ln(1 - q)",
    link: Link::Sigmoid,
    ordered: false,
    noise_depends_on_outputs: false,
};

/// The loss of one example; `dz` becomes (σ(z) − p)·weight.
pub(super) fn value<F: Real>(z: &[F], p: &[F], weight: F, dz: &mut [F]) -> F {
    let mut total = F::ZERO;
    for ((dz, &p), &z) in dz.iter_mut().zip(p).zip(z) {
        let above = if z < F::ZERO { F::ZERO } else { z };
        let rest = F::of((-z.wide().abs()).exp().ln_1p());
        *dz = (sigmoid(z) - p) * weight;
        total += above - p * z + rest;
    }
    total
}

/// As [`value`], with the tangent of dz along ż.
pub(super) fn tangent<F: Real>(z: &[F], tz: &[F], _: &[F], weight: F, tdz: &mut [F]) {
    for ((tdz, &z), &tz) in tdz.iter_mut().zip(z).zip(tz) {
        *tdz = sigmoid(z) * sigmoid(-z) * tz * weight;
    }
}

/// Of the gradient σ(z) − e_y only e_y is random.
pub(super) fn noise_variance(_: &[f64], p: &[f64]) -> f64 {
    of_one_label(p)
}

/// 1 / (1 + exp −z), without an overflow and as accurate near 0.
fn sigmoid<F: Real>(z: F) -> F {
    let small = (-z.wide().abs()).exp();
    F::of(if z < F::ZERO { small } else { 1.0 } / (1.0 + small))
}

/// ln σ(z). What is not finite stays as it is, so that it is seen.
pub(crate) fn log_sigmoid<F: Real>(z: F) -> F {
    match z.wide() {
        wide if wide.is_finite() => F::of(wide.min(0.0) - (-wide.abs()).exp().ln_1p()),
        _ => z,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: σ(ln 3) = 3/4 and σ(−ln 3) = 1/4.
    #[test]
    fn by_hand() {
        let (z, p, mut dz) = ([3f64.ln(), -(3f64.ln()), 0.0], [1.0, 0.25, 0.0], [0.0; 3]);
        let wanted = -(0.75f64.ln()) - 0.25 * 0.25f64.ln() - 0.75 * 0.75f64.ln() + 2f64.ln();
        assert!((value(&z, &p, 4.0, &mut dz) - wanted).abs() < 1e-15);
        for (found, wanted) in dz.iter().zip([-1.0, 0.0, 2.0]) {
            assert!((found - wanted).abs() < 1e-15, "{dz:?}");
        }
        let mut tdz = [0.0; 3];
        tangent(&z, &[1.0, 2.0, 4.0], &dz, 16.0, &mut tdz);
        for (found, wanted) in tdz.iter().zip([3.0, 6.0, 16.0]) {
            assert!((found - wanted).abs() < 1e-14, "{tdz:?}");
        }
    }

    #[test]
    fn large_outputs_overflow_nothing() {
        let mut dz = [0.0f32; 2];
        assert_eq!(value(&[1e30, -1e30], &[1.0, 0.0], 1.0, &mut dz), 0.0);
        assert_eq!(dz, [0.0, 0.0]);
        assert_eq!(value(&[1e30, -200.0], &[1.0, 1.0], 1.0, &mut dz), 200.0);
        assert!(value(&[f32::NAN, 0.0], &[1.0, 0.0], 1.0, &mut dz).is_nan());
        assert_eq!((log_sigmoid(-200.0f32), log_sigmoid(200.0f64)), (-200.0, -(-200f64).exp()));
        assert!(log_sigmoid(f32::NAN).is_nan() && log_sigmoid(f32::INFINITY).is_infinite());
    }
}
