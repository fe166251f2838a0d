//! eˣ and the activations, in forms that the compiler turns into vector code.
//!
//! * GELU(x) = x·Φ(x) = x/2·(1 + erf(x/√2)), erf to 3e-7 by a ratio of polynomials in x² that was
//!   fitted to it on \[−3.9, 3.9\] (`reference/embed/erf.py`).
//! * Its tanh form, x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))).
//!
//! Hendrycks and Gimpel, “Gaussian Error Linear Units”, 2016.

const NUMERATOR: [f32; 6] = [
    2.050_418_5e-6,
    2.874_531e-4,
    3.836_695_8e-3,
    5.296_636_7e-2,
    0.191_936_82,
    std::f32::consts::FRAC_2_SQRT_PI,
];
const DENOMINATOR: [f32; 6] =
    [3.823_084_6e-5, 1.181_690_4e-3, 1.510_884_5e-2, 0.114_756_47, 0.503_431_4, 1.0];
/// From here on erf is 1 to seven digits.
const FAR: f32 = 3.9;

/// Highest power first.
#[inline(always)]
fn polynomial<const N: usize>(x: f32, coefficients: [f32; N]) -> f32 {
    coefficients.into_iter().fold(0.0, |sum, c| sum.mul_add(x, c))
}

#[inline(always)]
fn erf(x: f32) -> f32 {
    let x = x.clamp(-FAR, FAR);
    let square = x * x;
    x * polynomial(square, NUMERATOR) / polynomial(square, DENOMINATOR)
}

/// eˣ to 2.5e-7 of itself; below −87, e⁻⁸⁷, and above 88, e⁸⁸.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    // Adding 1.5·2²³ rounds to a whole number, which then stands in the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    // ln 2 in two parts: n times the first is exact.
    const LN_2_HIGH: f32 = 0.693_145_75;
    const LN_2_LOW: f32 = 1.428_606_8e-6;
    let x = x.clamp(-87.0, 88.0);
    let shifted = x.mul_add(std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let rest = n.mul_add(-LN_2_LOW, n.mul_add(-LN_2_HIGH, x));
    // 1/k!: at |rest| ≤ ln 2 / 2 the first term left out is 2e-9.
    let terms = [1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0];
    let power = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    polynomial(rest, terms) * power
}

/// x·Φ(x).
#[inline(always)]
pub(super) fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

/// GELU's tanh form.
#[inline(always)]
pub(super) fn gelu_tanh(x: f32) -> f32 {
    const ROOT: f32 = 0.797_884_6;
    let inner = ROOT * (0.044_715 * x * x).mul_add(x, x);
    // ½·(1 + tanh u) = 1 / (1 + e⁻²ᵘ).
    x / (1.0 + exp(-2.0 * inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = f32> {
        (-120_000..120_000).map(|i| i as f32 / 10_000.0)
    }

    #[test]
    fn exp_is_the_exponential() {
        for x in all().map(|x| 7.0 * x) {
            let (found, wanted) = (f64::from(exp(x)), f64::from(x).exp());
            assert!((found / wanted - 1.0).abs() < 2.5e-7, "e^{x}: {found}, {wanted}");
        }
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(-1e30) < 2e-38 && exp(f32::NEG_INFINITY) > 0.0);
    }

    /// `[0.5 * x * (1 + math.erf(x / math.sqrt(2))) for x in (-5, -2, -0.7, 0.1, 1, 3)]` and, for
    /// the second, `torch.nn.functional.gelu(x, approximate="tanh")` in float64.
    #[test]
    fn both_forms_of_gelu() {
        let x = [-5.0, -2.0, -0.7, 0.1, 1.0, 3.0];
        let exact = [
            -1.433_257_859e-6,
            -0.045_500_263_9,
            -0.169_374_556_6,
            0.053_982_783_7,
            0.841_344_746_1,
            2.995_950_305_9,
        ];
        let tanh = [
            -2.291_796_197e-7,
            -0.045_402_305_9,
            -0.169_429_865_3,
            0.053_982_751_0,
            0.841_191_990_6,
            2.996_362_607_9,
        ];
        for (i, &x) in x.iter().enumerate() {
            assert!((f64::from(gelu(x)) - exact[i]).abs() < 1e-6, "{x}: {}", gelu(x));
            assert!((f64::from(gelu_tanh(x)) - tanh[i]).abs() < 1e-6, "{x}: {}", gelu_tanh(x));
        }
    }

    /// erf is odd, rises, and its slope is that of 2/√π·e^(−x²).
    #[test]
    fn erf_has_the_right_slope() {
        let mut sum = 0.0f64;
        let step = 1e-4;
        for i in 0..60_000 {
            let middle = (f64::from(i) + 0.5) * step;
            sum += step * (-middle * middle).exp() * std::f64::consts::FRAC_2_SQRT_PI;
            let x = ((f64::from(i) + 1.0) * step) as f32;
            assert!((f64::from(erf(x)) - sum).abs() < 5e-7, "{x}: {} {sum}", erf(x));
            assert_eq!(erf(-x), -erf(x));
        }
    }
}
