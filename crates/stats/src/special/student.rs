//! Student's t distribution.
//!
//! For t ≥ 0 and ν degrees of freedom, P(T ≥ t) = ½ I_x(ν/2, ½) with x = ν / (ν + t²), I the
//! regularized incomplete beta function by its continued fraction (modified Lentz; Press et al.,
//! *Numerical Recipes*, 3rd ed., §6.4). Above [`LARGE`] degrees of freedom, where the fraction
//! takes many terms, G. W. Hill's expansion in the normal distribution (algorithm 395, *CACM* 13,
//! 1970) is exact to f64.

use super::normal::{normal_quantile, normal_sf};
use super::stirling::ln_inverse_half_beta;

/// Degrees of freedom above which Hill's expansion serves.
const LARGE: f64 = 1e5;

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
    if df > LARGE { hill(t, df) } else { incomplete_beta(t, df) }
}

fn hill(t: f64, df: f64) -> f64 {
    let a = df - 0.5;
    let b = 48.0 * a * a;
    let square = a * libm::log1p(t / df * t);
    let inner = (((-0.4 * square - 3.3) * square - 24.0) * square - 85.5)
        / (0.8 * square * square + 100.0 + b);
    normal_sf(((inner + square + 3.0) / b + 1.0) * libm::sqrt(square))
}

fn incomplete_beta(t: f64, df: f64) -> f64 {
    let a = 0.5 * df;
    // x and its complement from the ratio, so that neither is lost when t² leaves the range.
    let ratio = t / df * t;
    let (x, rest, ln_x) = if ratio < 1e300 {
        (1.0 / (1.0 + ratio), ratio / (1.0 + ratio), -libm::log1p(ratio))
    } else {
        (0.0, 1.0, libm::log(df) - 2.0 * libm::log(t))
    };
    // x^a (1 − x)^½ / B(a, ½), the factor before both fractions.
    let factor = libm::exp(a * ln_x + ln_inverse_half_beta(a)) * libm::sqrt(rest);
    if x < (a + 1.0) / (a + 2.5) {
        0.5 * factor / a * fraction(a, 0.5, x)
    } else {
        // The fraction converges on the other side; here t² < 3, so that the tail is no small
        // difference.
        0.5 - factor * fraction(0.5, a, rest)
    }
}

/// The continued fraction of the incomplete beta function.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let guard = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / guard(1.0 - (a + b) * x / (a + 1.0));
    let mut h = d;
    // About √max(a, b) terms are needed: at most some hundreds below LARGE.
    for m in 1..10_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / guard(1.0 + even * d);
        c = guard(1.0 + even / c);
        h *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / guard(1.0 + odd * d);
        c = guard(1.0 + odd / c);
        let step = d * c;
        h *= step;
        if (step - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    h
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
        for t in [1e-6, 0.3, 1.0, 4.0, 1e5, 1e160, 1e250] {
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

    /// The two methods, on both sides of where one takes over.
    #[test]
    fn expansion_and_fraction_meet() {
        for t in [1e-3, 0.5, 1.7, 1.8, 3.0, 10.0, 30.0] {
            let (near, far) = (incomplete_beta(t, LARGE), hill(t, LARGE));
            assert!((near / far - 1.0).abs() < 1e-12, "{t}: {near} {far}");
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
