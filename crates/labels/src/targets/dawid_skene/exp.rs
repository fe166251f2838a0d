//! e^x of many numbers at once, for x ≤ 0: no branches and no tables, so that the compiler works on
//! several at a time, and the same bits on every platform.
//!
//! x = k ln 2 + r with |r| ≤ ln 2 / 2, and e^r by its Taylor polynomial of degree 13, whose
//! remainder is below 5e-18. Within 2 units in the last place.

use std::f64::consts::LOG2_E;

/// ln 2 in two parts: the first has so few bits that its product with k is exact.
const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];

/// Added and taken away, it leaves the nearest whole number; in between, the lowest bits hold it.
const ROUND: f64 = 1.5 * (1u64 << 52) as f64;

/// Below this, e^x is taken for 0: it has fewer bits than a number should.
const LOWEST: f64 = -708.0;

/// Replaces every x ≤ 0 by e^x.
pub(super) fn exp_all(values: &mut [f64]) {
    for value in values {
        *value = exp(*value);
    }
}

#[inline(always)]
fn exp(x: f64) -> f64 {
    let shifted = x * LOG2_E + ROUND;
    let k = shifted - ROUND;
    let r = x - k * LN_2[0] - k * LN_2[1];
    let mut sum = 1.0 / 6_227_020_800.0;
    for factorial in [
        479_001_600.0,
        39_916_800.0,
        3_628_800.0,
        362_880.0,
        40_320.0,
        5_040.0,
        720.0,
        120.0,
        24.0,
        6.0,
        2.0,
        1.0,
        1.0,
    ] {
        sum = sum * r + 1.0 / factorial;
    }
    let scale = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52));
    if x < LOWEST { 0.0 } else { sum * scale }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_libm_to_two_units_in_the_last_place() {
        let mut worst: f64 = 0.0;
        for step in 0..200_000 {
            let x = -708.0 * (f64::from(step) / 200_000.0).powi(3);
            worst = worst.max((exp(x) / libm::exp(x) - 1.0).abs());
        }
        assert!(worst <= 2.0 * f64::EPSILON, "{worst}");
        assert_eq!((exp(0.0), exp(-709.0), exp(f64::NEG_INFINITY)), (1.0, 0.0, 0.0));
        assert!(exp(f64::NAN).is_nan());
        let mut values = [0.0, -1.0];
        exp_all(&mut values);
        assert_eq!(values[1], exp(-1.0));
    }
}
