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

/// The gradient at the logits of −ln softmax(z/T)\[argmax z\], up to the factor 1/T, which changes no
/// sign. The first of equal logits is the largest.
pub(crate) fn top_slope<F: Real>(z: &[F], temperature: f64, out: &mut Vec<F>) {
    let mut top = 0;
    for (at, &value) in z.iter().enumerate() {
        if value > z[top] {
            top = at;
        }
    }
    let power = |value: &F| ((*value - z[top]).wide() / temperature).exp();
    let total: f64 = z.iter().map(power).sum();
    let slope = |(at, value): (usize, &F)| {
        let own = if at == top { 1.0 } else { 0.0 };
        F::of(power(value) / total - own)
    };
    out.extend(z.iter().enumerate().map(slope));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: at T = 2, softmax(z/2) of (ln 4, 0, 0) is (1/2, 1/4, 1/4).
    #[test]
    fn the_slope_of_the_largest_logit_is_at_a_temperature() {
        let mut slopes = Vec::new();
        top_slope(&[0.0, 4f64.ln(), 0.0], 2.0, &mut slopes);
        for (found, wanted) in slopes.iter().zip([0.25, -0.5, 0.25]) {
            assert!((found - wanted).abs() < 1e-15, "{slopes:?}");
        }
        slopes.clear();
        top_slope(&[1.0, 1.0], 1.0, &mut slopes);
        assert_eq!(slopes, [-0.5, 0.5]);
    }
}
