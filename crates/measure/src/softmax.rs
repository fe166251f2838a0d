//! Softmax of a row, and its logarithm without the detour over underflow.
//!
//! `q_k = exp(z_k − m) / S`, `ln q_k = z_k − m − ln S`, with `m = max z` and `S = Σ exp(z_k − m)`:
//! nothing overflows, and ln q is finite where q has underflowed to 0.

/// Turns logits, of which the largest is known, into probabilities in place, and writes their
/// logarithms.
#[inline]
pub(crate) fn softmax(row: &mut [f64], largest: f64, logarithms: &mut [f64]) {
    let mut sum = 0.0;
    for (value, logarithm) in row.iter_mut().zip(logarithms.iter_mut()) {
        *logarithm = *value - largest;
        *value = logarithm.exp();
        sum += *value;
    }
    let shift = sum.ln();
    row.iter_mut().for_each(|value| *value /= sum);
    logarithms.iter_mut().for_each(|logarithm| *logarithm -= shift);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_neither_overflow_nor_vanish() {
        let (mut row, mut logarithms) = ([1e4, 0.0, 1e4], [0.0; 3]);
        softmax(&mut row, 1e4, &mut logarithms);
        assert_eq!(row, [0.5, 0.0, 0.5]);
        assert!((logarithms[1] + 1e4 + 2f64.ln()).abs() < 1e-11);
        let (mut widest, mut logarithms) = ([f64::MAX, f64::MIN], [0.0; 2]);
        softmax(&mut widest, f64::MAX, &mut logarithms);
        assert_eq!(widest, [1.0, 0.0]);
    }
}
