//! The gradient at the logits of −ln softmax(z/T)\[argmax z\], up to the factor 1/T, which changes no
//! sign: the direction in which ODIN moves inputs.

use crate::scalar::Real;

/// Adds the gradient of one example to `out`. The first of equal logits is the largest.
pub(crate) fn predicted_class_gradient<F: Real>(z: &[F], temperature: f64, out: &mut Vec<F>) {
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
        predicted_class_gradient(&[0.0, 4f64.ln(), 0.0], 2.0, &mut slopes);
        for (found, wanted) in slopes.iter().zip([0.25, -0.5, 0.25]) {
            assert!((found - wanted).abs() < 1e-15, "{slopes:?}");
        }
        slopes.clear();
        predicted_class_gradient(&[1.0, 1.0], 1.0, &mut slopes);
        assert_eq!(slopes, [-0.5, 0.5]);
    }
}
