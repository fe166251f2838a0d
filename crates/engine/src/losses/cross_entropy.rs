//! Softmax cross-entropy: ℓ = ln Σ exp z − Σ p·z, dz = q − p with q = softmax z, and the tangent of dz
//! along ż: q ⊙ (ż − ⟨q, ż⟩). A class is the distribution with everything on it. Of p nothing is
//! needed but that it sums to 1: with noise added, it may be negative in places.

use super::{Link, Loss, LossEntry, of_one_label};
use crate::scalar::Real;

pub(super) const ENTRY: LossEntry = LossEntry {
    loss: Loss::CrossEntropy,
    name: "cross_entropy",
    description: "softmax outputs; -Σ p ln q with the predicted probabilities q",
    link: Link::Softmax,
    ordered: false,
    noise_depends_on_outputs: false,
};

/// The loss of one example; `dz` becomes (q − p)·weight.
pub(super) fn value<F: Real>(z: &[F], p: &[F], weight: F, dz: &mut [F]) -> F {
    let (top, total) = softmax(z, dz);
    let mut expected = F::ZERO;
    for ((dz, &p), &z) in dz.iter_mut().zip(p).zip(z) {
        *dz = (*dz / total - p) * weight;
        expected += p * (z - top);
    }
    F::of(total.wide().ln()) - expected
}

/// As [`value`], with the tangent of dz along ż.
pub(super) fn tangent<F: Real>(z: &[F], tz: &[F], _: &[F], weight: F, tdz: &mut [F]) {
    let (_, total) = softmax(z, tdz);
    let mut mean = F::ZERO;
    for (q, &tz) in tdz.iter_mut().zip(tz) {
        *q = *q / total;
        mean += *q * tz;
    }
    for (q, &tz) in tdz.iter_mut().zip(tz) {
        *q = *q * (tz - mean) * weight;
    }
}

/// Of the gradient q − e_y only e_y is random.
pub(super) fn noise_variance(_: &[f64], p: &[f64]) -> f64 {
    of_one_label(p)
}

/// exp(z − max z) into `out`; returns the maximum and the sum.
pub(super) fn softmax<F: Real>(z: &[F], out: &mut [F]) -> (F, F) {
    let mut top = z.first().copied().unwrap_or(F::ZERO);
    for &z in z {
        // A NaN stays: `<` is false for it, so it must be looked for.
        if top < z || z.wide().is_nan() {
            top = z;
        }
    }
    let mut total = F::ZERO;
    for (out, &z) in out.iter_mut().zip(z) {
        *out = F::of((z - top).wide().exp());
        total += *out;
    }
    (top, total)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: softmax of (ln 2, 0, 0) is (1/2, 1/4, 1/4).
    #[test]
    fn by_hand() {
        let (z, p, mut dz) = ([2f64.ln(), 0.0, 0.0], [0.0, 1.0, 0.0], [0.0; 3]);
        assert!((value(&z, &p, 2.0, &mut dz) - 4f64.ln()).abs() < 1e-15);
        for (found, wanted) in dz.iter().zip([1.0, -1.5, 0.5]) {
            assert!((found - wanted).abs() < 1e-15, "{dz:?}");
        }
    }
}
