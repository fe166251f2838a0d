//! The ranked probability score of classes in their order (Epstein, 1969), without his factor
//! 1 / (K − 1): ℓ = Σ_{k<K} D_k², where D_k = Q_k − P_k is the difference of the cumulative sums of
//! q = softmax z and of the target p. It is the squared distance of the cumulative distributions, so a
//! prediction is the worse the farther it lies from the votes, and the same with the classes in reverse.
//!
//! With g_j = 2 Σ_{j≤k<K} D_k the gradient is dz = q ⊙ (g − ⟨q, g⟩). Along ż, with m = ⟨q, ż⟩ and
//! q̇ = q ⊙ (ż − m), whose cumulative sums are Q̇, and ġ_j = 2 Σ_{j≤k<K} Q̇_k, its tangent is
//! dz ⊙ (ż − m) + q ⊙ (ġ − ⟨q, ġ⟩ − ⟨dz, ż − m⟩).

use super::cross_entropy::softmax;
use super::{Link, Loss, LossEntry};
use crate::scalar::Real;

pub(super) const ENTRY: LossEntry = LossEntry {
    loss: Loss::Rps,
    name: "rps",
    description: "softmax outputs of ordered classes; the squared distance of the cumulative \
                  probabilities",
    link: Link::Softmax,
    ordered: true,
    noise_depends_on_outputs: true,
};

/// The loss of one example; `dz` becomes its gradient at the outputs times `weight`.
pub(super) fn value<F: Real>(z: &[F], p: &[F], weight: F, dz: &mut [F]) -> F {
    let (_, total) = softmax(z, dz);
    let last = z.len().saturating_sub(1);
    // Half of g at the first class, and half of ⟨q, g⟩ = Σ_k D_k Q_k.
    let (mut loss, mut slope, mut mean) = (F::ZERO, F::ZERO, F::ZERO);
    let (mut cumulative, mut target) = (F::ZERO, F::ZERO);
    for (q, &p) in dz.iter_mut().zip(p).take(last) {
        *q = *q / total;
        cumulative += *q;
        target += p;
        let difference = cumulative - target;
        loss += difference * difference;
        slope += difference;
        mean += difference * cumulative;
    }
    if let Some(q) = dz.last_mut() {
        *q = *q / total;
    }
    (cumulative, target) = (F::ZERO, F::ZERO);
    for (dz, &p) in dz.iter_mut().zip(p) {
        let q = *dz;
        *dz = q * (slope - mean) * (weight + weight);
        cumulative += q;
        target += p;
        slope -= cumulative - target;
    }
    loss
}

/// The tangent of the gradient `dz` along ż.
pub(super) fn tangent<F: Real>(z: &[F], tz: &[F], dz: &[F], weight: F, tdz: &mut [F]) {
    let (_, total) = softmax(z, tdz);
    let last = z.len().saturating_sub(1);
    let mut along = F::ZERO;
    for (q, &tz) in tdz.iter_mut().zip(tz) {
        *q = *q / total;
        along += *q * tz;
    }
    // Half of ġ at the first class, half of ⟨q, ġ⟩, and ⟨dz, ż − m⟩.
    let (mut slope, mut mean, mut moved) = (F::ZERO, F::ZERO, F::ZERO);
    let (mut cumulative, mut tangent) = (F::ZERO, F::ZERO);
    for (at, ((&q, &tz), &dz)) in tdz.iter().zip(tz).zip(dz).enumerate() {
        moved += dz * (tz - along);
        if at < last {
            cumulative += q;
            tangent += q * (tz - along);
            slope += tangent;
            mean += tangent * cumulative;
        }
    }
    tangent = F::ZERO;
    for ((tdz, &tz), &dz) in tdz.iter_mut().zip(tz).zip(dz) {
        let (q, own) = (*tdz, tz - along);
        *tdz = dz * own + q * ((slope - mean) * (weight + weight) - moved);
        tangent += q * own;
        slope -= tangent;
    }
}

/// Σ_y p_y ‖g_y − ḡ‖², from the gradient g_y of every class and their mean, the gradient at p.
pub(super) fn noise_variance(z: &[f64], p: &[f64]) -> f64 {
    let (mut own, mut mean) = (vec![0.0; z.len()], vec![0.0; z.len()]);
    value(z, p, 1.0, &mut mean);
    let mut label = vec![0.0; z.len()];
    let mut variance = 0.0;
    for (class, &p) in p.iter().enumerate().filter(|(_, p)| **p != 0.0) {
        label[class] = 1.0;
        value(z, &label, 1.0, &mut own);
        label[class] = 0.0;
        let square: f64 = own.iter().zip(&mean).map(|(g, mean)| (g - mean) * (g - mean)).sum();
        variance += p * square;
    }
    variance
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: softmax of (0, ln 2, 0) is (1/4, 1/2, 1/4), with the cumulative sums 1/4 and 3/4.
    #[test]
    fn by_hand() {
        let (z, mut dz) = ([0.0, 2f64.ln(), 0.0], [0.0; 3]);
        // At the first class D = (−3/4, −1/4), at the last (1/4, 3/4): as far on the other side.
        for (p, gradient) in [
            ([1.0, 0.0, 0.0], [-0.3125, 0.125, 0.1875]),
            ([0.0, 0.0, 1.0], [0.1875, 0.125, -0.3125]),
        ] {
            assert!((value(&z, &p, 1.0, &mut dz) - 0.625).abs() < 1e-15);
            for (found, wanted) in dz.iter().zip(gradient) {
                assert!((found - wanted).abs() < 1e-15, "{dz:?}, not {gradient:?}");
            }
        }
        // A neighbour is nearer than the class at the other end, where the cross-entropy sees no difference.
        let narrow = [0.0, 20.0, 0.0];
        let near = value(&narrow, &[0.0, 1.0, 0.0], 1.0, &mut dz);
        let one = value(&narrow, &[1.0, 0.0, 0.0], 1.0, &mut dz);
        let two = value(&[20.0, 0.0, 0.0], &[0.0, 0.0, 1.0], 1.0, &mut dz);
        assert!(near < 1e-7 && (one - 1.0).abs() < 1e-7 && (two - 2.0).abs() < 1e-7);
    }
}
