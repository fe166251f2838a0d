//! Softmax cross-entropy against a distribution, as a mean over the examples:
//! ℓ = ln Σ exp z − Σ p·z, dz = (q − p) / n with q = softmax z, and the tangent of dz along ż:
//! q ⊙ (ż − ⟨q, ż⟩) / n. A class is the distribution with everything on it. Of p
//! nothing is needed but that it sums to 1: with noise added, it may be negative in places.

use crate::scalar::Real;

/// The loss of one example; `dz` becomes (q − p)·weight.
pub(crate) fn cross_entropy<F: Real>(z: &[F], p: &[F], weight: F, dz: &mut [F]) -> F {
    let (top, total) = softmax(z, dz);
    let mut expected = F::ZERO;
    for ((dz, &p), &z) in dz.iter_mut().zip(p).zip(z) {
        *dz = (*dz / total - p) * weight;
        expected += p * (z - top);
    }
    F::of(total.wide().ln()) - expected
}

/// As [`cross_entropy`], with the tangent of dz along ż.
pub(crate) fn tangent<F: Real>(z: &[F], tz: &[F], weight: F, tdz: &mut [F]) {
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

/// exp(z − max z) into `out`; returns the maximum and the sum.
fn softmax<F: Real>(z: &[F], out: &mut [F]) -> (F, F) {
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
