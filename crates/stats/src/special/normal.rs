//! The standard normal distribution.
//!
//! Φ(x) = ½ erfc(−x/√2), with erfc from `libm` (FreeBSD's msun, below one ulp). The quantile is
//! M. J. Wichura's algorithm AS 241 (PPND16), *Applied Statistics* 37 (1988) 477–484.

use std::f64::consts::SQRT_2;

/// P(Z ≤ x).
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x / SQRT_2)
}

/// P(Z ≥ x).
pub fn normal_sf(x: f64) -> f64 {
    normal_cdf(-x)
}

/// The x with P(Z ≤ x) = p; −∞ at 0, ∞ at 1, NaN outside.
pub fn normal_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180_625 - q * q;
        return q * ratio(r, &CENTRE);
    }
    let tail = if q < 0.0 { p } else { 1.0 - p };
    if tail < 0.0 || tail.is_nan() {
        return f64::NAN;
    }
    if tail == 0.0 {
        return f64::INFINITY.copysign(q);
    }
    let r = libm::sqrt(-libm::log(tail));
    let x = if r <= 5.0 { ratio(r - 1.6, &MIDDLE) } else { ratio(r - 5.0, &FAR) };
    x.copysign(q)
}

/// Two polynomials divided, coefficients from the highest power down.
fn ratio(x: f64, [above, below]: &[[f64; 8]; 2]) -> f64 {
    let polynomial = |terms: &[f64; 8]| terms.iter().fold(0.0, |sum, term| sum * x + term);
    polynomial(above) / polynomial(below)
}

#[expect(clippy::excessive_precision, reason = "digits as published")]
const CENTRE: [[f64; 8]; 2] = [
    [
        2.5090809287301226727e3,
        3.3430575583588128105e4,
        6.7265770927008700853e4,
        4.5921953931549871457e4,
        1.3731693765509461125e4,
        1.9715909503065514427e3,
        1.3314166789178437745e2,
        3.3871328727963666080e0,
    ],
    [
        5.2264952788528545610e3,
        2.8729085735721942674e4,
        3.9307895800092710610e4,
        2.1213794301586595867e4,
        5.3941960214247511077e3,
        6.8718700749205790830e2,
        4.2313330701600911252e1,
        1.0,
    ],
];
#[expect(clippy::excessive_precision, reason = "digits as published")]
const MIDDLE: [[f64; 8]; 2] = [
    [
        7.74545014278341407640e-4,
        2.27238449892691845833e-2,
        2.41780725177450611770e-1,
        1.27045825245236838258e0,
        3.64784832476320460504e0,
        5.76949722146069140550e0,
        4.63033784615654529590e0,
        1.42343711074968357734e0,
    ],
    [
        1.05075007164441684324e-9,
        5.47593808499534494600e-4,
        1.51986665636164571966e-2,
        1.48103976427480074590e-1,
        6.89767334985100004550e-1,
        1.67638483018380384940e0,
        2.05319162663775882187e0,
        1.0,
    ],
];
#[expect(clippy::excessive_precision, reason = "digits as published")]
const FAR: [[f64; 8]; 2] = [
    [
        2.01033439929228813265e-7,
        2.71155556874348757815e-5,
        1.24266094738807843860e-3,
        2.65321895265761230930e-2,
        2.96560571828504891230e-1,
        1.78482653991729133580e0,
        5.46378491116411436990e0,
        6.65790464350110377720e0,
    ],
    [
        2.04426310338993978564e-15,
        1.42151175831644588870e-7,
        1.84631831751005468180e-5,
        7.86869131145613259100e-4,
        1.48753612908506148525e-2,
        1.36929880922735805310e-1,
        5.99832206555887937690e-1,
        1.0,
    ],
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_ends() {
        assert_eq!(normal_cdf(0.0), 0.5);
        assert_eq!(normal_quantile(0.5), 0.0);
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
        assert!([-0.1, 1.1, f64::NAN].iter().all(|&p| normal_quantile(p).is_nan()));
    }

    proptest! {
        #[test]
        fn the_quantile_inverts_the_cdf(x in -37.0..5.0) {
            let back = normal_quantile(normal_cdf(x));
            // Above 0 the cdf nears 1, where its spacing limits what can come back.
            let slack = f64::EPSILON * (1.0 + (x.max(0.0).powi(2) / 2.0).exp() * 3.0);
            prop_assert!((back - x).abs() < 8.0 * slack * x.abs().max(1.0), "{} {}", back, x);
        }
    }
}
