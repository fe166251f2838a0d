//! Student's t distribution.
//!
//! For t ≥ 0 and ν degrees of freedom, P(T ≥ t) = ½ I_x(ν/2, ½) with x = ν / (ν + t²), where
//!
//! I_x(a, b) = xᵃ (1 − x)ᵇ / B(a, b) / (β₀ + α₁ / (β₁ + α₂ / (β₂ + …))).
//!
//! The fraction is that of A. R. DiDonato and A. H. Morris, *Algorithm 708* (ACM TOMS 18, 1992),
//! in which 1 − x enters on its own; the more common one forms it as a difference, and loses five
//! digits at 10⁵ degrees of freedom.

use super::normal::{normal_quantile, normal_sf};
use super::stirling::ln_inverse_half_beta;

/// P(T ≥ t) for `df` > 0 degrees of freedom; NaN for other `df`.
pub fn t_sf(t: f64, df: f64) -> f64 {
    if t.is_nan() || df.is_nan() || df <= 0.0 {
        return f64::NAN;
    }
    if t < 0.0 {
        return 1.0 - t_sf(-t, df);
    }
    if t.is_infinite() {
        return 0.0;
    }
    if df.is_infinite() {
        return normal_sf(t);
    }
    let a = 0.5 * df;
    // x and 1 − x from their ratio, so that neither is lost when t² leaves the range.
    let ratio = t / df * t;
    let (x, rest, ln_x) = if ratio < 1e300 {
        (1.0 / (1.0 + ratio), ratio / (1.0 + ratio), -libm::log1p(ratio))
    } else {
        (0.0, 1.0, libm::log(df) - 2.0 * libm::log(t))
    };
    // xᵃ √(1 − x) / B(a, ½), the factor before either fraction.
    let factor = libm::exp(a * ln_x + ln_inverse_half_beta(a)) * libm::sqrt(rest);
    if x < (a + 1.0) / (a + 2.5) {
        0.5 * factor / fraction(a, 0.5, x, rest)
    } else {
        // The fraction converges on the other side; here t² < 3, so that the tail is no small
        // difference.
        0.5 - 0.5 * factor / fraction(0.5, a, rest, x)
    }
}

/// The continued fraction for I_x(a, b), `rest` = 1 − x, by the modified Lentz method.
fn fraction(a: f64, b: f64, x: f64, rest: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let guard = |value: f64| if value.abs() < TINY { TINY } else { value };
    let slope =
        |m: f64| (a + m) * (a * rest - b * x + 1.0 + m * (1.0 + rest)) / (a + 2.0 * m + 1.0);
    let mut value = guard(slope(0.0));
    let (mut c, mut d) = (value, 0.0);
    // Below a hundred terms do for any a: the side is chosen for that.
    for m in 1..1000 {
        let m = f64::from(m);
        let odd = a + 2.0 * m - 1.0;
        let alpha = (a + m - 1.0) / odd * (a + b + m - 1.0) / odd * m * (b - m) * x * x;
        let beta = m + m * (b - m) * x / odd + slope(m);
        d = 1.0 / guard(beta + alpha * d);
        c = guard(beta + alpha / c);
        value *= c * d;
        if (c * d - 1.0).abs() < 2.0 * f64::EPSILON {
            break;
        }
    }
    value
}

/// The t with P(T ≥ t) = p, for 0 < p < 1 and `df` > 0; NaN elsewhere.
pub fn t_quantile_upper(p: f64, df: f64) -> f64 {
    if !(p > 0.0 && p < 1.0 && df > 0.0) {
        return f64::NAN;
    }
    if p > 0.5 {
        return -t_quantile_upper(1.0 - p, df);
    }
    if p == 0.5 {
        return 0.0;
    }
    // t's tails are heavier than the normal's: its quantile lies above the normal one.
    let mut low = -normal_quantile(p);
    let mut high = 2.0 * low.max(1.0);
    while t_sf(high, df) > p && high.is_finite() {
        low = high;
        high *= 2.0;
    }
    // Secant steps would be quicker; halving cannot fail, and no result needs many quantiles.
    while low < high {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if t_sf(middle, df) > p { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// One degree of freedom is Cauchy: P(T ≥ t) = atan(1/t)/π. Two: ½ − t / (2 √(2 + t²)).
    #[test]
    fn closed_forms() {
        for t in [1e-6f64, 0.3, 1.0, 4.0, 1e5, 1e160, 1e250] {
            let cauchy = (1.0 / t).atan() / std::f64::consts::PI;
            assert!((t_sf(t, 1.0) / cauchy - 1.0).abs() < 1e-13, "{t}");
        }
        for t in [1e-6f64, 0.3, 1.0, 4.0] {
            let two = 0.5 - t / (2.0 * (2.0 + t * t).sqrt());
            assert!((t_sf(t, 2.0) / two - 1.0).abs() < 1e-13, "{t}");
        }
    }

    #[test]
    fn the_ends() {
        assert_eq!(t_sf(0.0, 3.0), 0.5);
        assert_eq!(t_sf(f64::INFINITY, 3.0), 0.0);
        assert_eq!(t_sf(f64::NEG_INFINITY, 3.0), 1.0);
        assert!(t_sf(1.0, 0.0).is_nan() && t_sf(f64::NAN, 3.0).is_nan());
        assert!(t_quantile_upper(0.0, 3.0).is_nan() && t_quantile_upper(0.1, -1.0).is_nan());
    }

    /// With ever more degrees of freedom t becomes normal, at distance (t³ + t) φ(t) / 4ν.
    #[test]
    fn the_limit_is_normal() {
        for t in [1e-3f64, 0.5, 1.7, 1.8, 3.0, 10.0, 30.0] {
            let near = t_sf(t, 1e12) / normal_sf(t) - 1.0;
            assert!(near.abs() < 1e-11 + t.powi(4) / 2e12, "{t}: {near}");
            assert_eq!(t_sf(t, f64::INFINITY), normal_sf(t));
        }
    }

    proptest! {
        #[test]
        fn the_quantile_inverts_the_tail(p in 1e-12..0.5, df in 1u32..500) {
            let t = t_quantile_upper(p, f64::from(df));
            prop_assert!((t_sf(t, f64::from(df)) / p - 1.0).abs() < 1e-12);
        }
    }
}
