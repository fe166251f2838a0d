//! Two distributions against each other: every per-item number of [`Judged`](crate::Judged), from
//! one walk over the classes.

use std::f64::consts::LN_2;

use crate::entropy::{Entropy, positive};

/// What one item amounts to.
pub(crate) struct Compared {
    pub(crate) nll: f64,
    pub(crate) kl: f64,
    pub(crate) brier: f64,
    pub(crate) js: f64,
    pub(crate) variation: f64,
    pub(crate) entropy: f64,
}

/// Compares people's p with the model's q, whose logarithms are at hand; `scratch` has a place for
/// each class.
#[inline]
pub(crate) fn compare(p: &[f64], q: &[f64], ln_q: &[f64], scratch: &mut [usize]) -> Compared {
    let (mut nll, mut kl, mut brier, mut js, mut l1) = (0.0, 0.0, 0.0, 0.0, 0.0);
    let mut entropy = Entropy::default();
    for ((&p, &q), &ln_q) in p.iter().zip(q).zip(ln_q) {
        let difference = q - p;
        brier += difference * difference;
        l1 += difference.abs();
        js += if p > 0.0 { 0.0 } else { 0.5 * LN_2 * q };
        if q > 0.0 {
            entropy.add(q, ln_q);
        }
    }
    for &class in positive(p, scratch) {
        let (p, q, ln_q) = (p[class], q[class], ln_q[class]);
        let ln_p = p.ln();
        nll -= p * ln_q;
        kl += p * (ln_p - ln_q);
        js += half_divergence((p, ln_p), (q, ln_q));
    }
    // Neither is negative but by rounding.
    let (kl, js) = (kl.max(0.0), js.max(0.0).sqrt());
    Compared { nll, kl, brier, js, variation: l1 / 2.0, entropy: entropy.nats() }
}

/// 1 / (2j (2j − 1)) for j = 7 down to 1; the eighth term would be below rounding.
const SERIES: [f64; 7] =
    [1.0 / 182.0, 1.0 / 132.0, 1.0 / 90.0, 1.0 / 56.0, 1.0 / 30.0, 1.0 / 12.0, 1.0 / 2.0];

/// `½ (p ln(p / m) + q ln(q / m))` with `m = (p + q) / 2`, of p above 0 and q with logarithms.
///
/// With `d = (p − q) / (p + q)` it is `m h(d)`, `h(d) = Σ_j d^2j / (2j (2j − 1))`. Near d = 0 the
/// logarithms cancel, and the root of what is left would be a distance of 1e-8 between equals;
/// there the series is exact to rounding.
#[inline]
fn half_divergence((p, ln_p): (f64, f64), (q, ln_q): (f64, f64)) -> f64 {
    if q == 0.0 {
        return 0.5 * p * LN_2;
    }
    let sum = p + q;
    let d = (p - q) / sum;
    let square = d * d;
    if square < 0.01 {
        let series = SERIES.iter().fold(0.0, |sum, term| sum * square + term) * square;
        return 0.5 * sum * series;
    }
    let ln_m = (0.5 * sum).ln();
    0.5 * (p * (ln_p - ln_m) + q * (ln_q - ln_m))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(p: &[f64], q: &[f64]) -> Compared {
        compare(p, q, &q.iter().map(|q| q.ln()).collect::<Vec<_>>(), &mut vec![0; p.len()])
    }

    #[test]
    fn equals_are_at_no_distance() {
        let p = [0.7, 0.2, 0.1, 0.0];
        let same = of(&p, &p);
        assert_eq!((same.kl, same.brier, same.js, same.variation), (0.0, 0.0, 0.0, 0.0));
        assert!((same.nll - same.entropy).abs() < 1e-15);
        let near = of(&p, &[0.7 + 1e-12, 0.2 - 1e-12, 0.1, 0.0]);
        // To second order, JS² = Σ (p − q)² / (8 m).
        let second = (1e-24 / 8.0 * (1.0 / 0.7 + 1.0 / 0.2f64)).sqrt();
        assert!((near.js / second - 1.0).abs() < 1e-3, "{} {second}", near.js);
    }

    #[test]
    fn opposites_are_at_the_largest_distance() {
        let far = of(&[1.0, 0.0], &[0.0, 1.0]);
        assert_eq!((far.nll, far.kl, far.entropy), (f64::INFINITY, f64::INFINITY, 0.0));
        assert_eq!((far.js, far.variation, far.brier), (LN_2.sqrt(), 1.0, 2.0));
    }

    /// Both forms of h(d) where they meet, d = ±0.1.
    #[test]
    fn the_series_meets_the_logarithms() {
        for d in [0.0999999999, 0.1000000001] {
            let (p, q): (f64, f64) = ((1.0 + d) / 2.0, (1.0 - d) / 2.0);
            let direct = 0.5 * (p * (2.0 * p).ln() + q * (2.0 * q).ln());
            let of = |p: f64, q: f64| half_divergence((p, p.ln()), (q, q.ln()));
            assert!((of(p, q) - direct).abs() < 1e-16);
            assert!((of(p, q) - of(q, p)).abs() < 1e-18);
        }
    }
}
