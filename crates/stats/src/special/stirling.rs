//! The error of Stirling's formula, δ(x) = ln Γ(x + 1) − (x + ½) ln x + x − ½ ln 2π.
//!
//! Ratios of gamma functions at large arguments are differences of huge logarithms; written with δ
//! the huge parts cancel on paper instead of in floating point. C. Loader, *Fast and accurate
//! computation of binomial probabilities* (2000).

use std::f64::consts::{PI, TAU};

/// δ(x) for x > 0.
pub(crate) fn stirling_error(x: f64) -> f64 {
    if x < 15.0 {
        // The terms are small here, so that their difference loses nothing that matters.
        let ln_gamma = libm::lgamma(x + 1.0);
        return ln_gamma - (x + 0.5) * libm::log(x) + x - 0.5 * libm::log(TAU);
    }
    // B_2k / (2k (2k − 1)), the asymptotic series; the first term left out is below 1e-17 at 15.
    const SERIES: [f64; 7] = [
        1.0 / 156.0,
        -691.0 / 360_360.0,
        1.0 / 1_188.0,
        -1.0 / 1_680.0,
        1.0 / 1_260.0,
        -1.0 / 360.0,
        1.0 / 12.0,
    ];
    let square = x * x;
    SERIES.iter().fold(0.0, |sum, term| sum / square + term) / x
}

/// ln (Γ(a + ½) / (Γ(a) √π)), which is −ln B(a, ½).
pub(crate) fn ln_inverse_half_beta(a: f64) -> f64 {
    if a < 15.0 {
        return libm::lgamma(a + 0.5) - libm::lgamma(a) - 0.5 * libm::log(PI);
    }
    a * libm::log1p(0.5 / a) - 0.5 + 0.5 * libm::log(a / PI) + stirling_error(a + 0.5)
        - stirling_error(a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_branches_meet() {
        let direct =
            |x: f64| libm::lgamma(x + 1.0) - (x + 0.5) * libm::log(x) + x - 0.5 * libm::log(TAU);
        for x in [15.0, 16.5, 20.0] {
            assert!((stirling_error(x) - direct(x)).abs() < 3e-14, "{x}");
        }
        let direct = |a: f64| libm::lgamma(a + 0.5) - libm::lgamma(a) - 0.5 * libm::log(PI);
        for a in [15.0, 17.5, 30.0] {
            assert!((ln_inverse_half_beta(a) - direct(a)).abs() < 3e-14, "{a}");
        }
    }

    /// B(½, ½) = π and B(1, ½) = 2.
    #[test]
    fn known_values() {
        assert!((ln_inverse_half_beta(0.5) + PI.ln()).abs() < 1e-15);
        assert!((ln_inverse_half_beta(1.0) + 2f64.ln()).abs() < 1e-15);
    }
}
