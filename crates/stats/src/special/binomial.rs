//! The binomial distribution with even chances, for the sign test.
//!
//! P(X ≤ k) for X ~ B(n, ½) with k below n/2 is a sum of falling terms C(n, j) / 2ⁿ, j = k, k − 1,
//! …, each a ratio of the one before. The first by C. Loader's saddle-point form, which keeps its
//! digits at any n (*Fast and accurate computation of binomial probabilities*, 2000).

use std::f64::consts::TAU;

use super::stirling::stirling_error;

/// P(X ≤ k), X ~ B(n, ½).
pub fn half_binomial_lower(k: u64, n: u64) -> f64 {
    if k >= n {
        return 1.0;
    }
    // By symmetry P(X ≤ k) = 1 − P(X ≤ n − k − 1).
    let mirrored = n - k - 1;
    if k == mirrored {
        return 0.5;
    }
    if k > mirrored {
        return 1.0 - half_binomial_lower(mirrored, n);
    }
    let first = probability(k, n);
    let (mut sum, mut term) = (0.0, first);
    for j in (0..=k).rev() {
        sum += term;
        term *= j as f64 / (n - j + 1) as f64;
        // "At most": far in the tail both are zero.
        if term <= sum * 1e-18 {
            break;
        }
    }
    sum
}

/// C(n, k) / 2ⁿ, for k < n/2.
fn probability(k: u64, n: u64) -> f64 {
    if k == 0 {
        return libm::exp2(-(n as f64));
    }
    let (n, a, b) = (n as f64, k as f64, (n - k) as f64);
    let ln_ratio = stirling_error(n)
        - stirling_error(a)
        - stirling_error(b)
        - deviance(a, n / 2.0)
        - deviance(b, n / 2.0);
    libm::exp(ln_ratio) * libm::sqrt(n / (TAU * a * b))
}

/// x ln(x/m) + m − x, without the cancellation where x is near m.
fn deviance(x: f64, m: f64) -> f64 {
    let v = (x - m) / (x + m);
    if v.abs() >= 0.1 {
        return x * libm::log(x / m) + m - x;
    }
    // ln(x/m) = 2 (v + v³/3 + v⁵/5 + …), and the first term meets m − x.
    let mut sum = (x - m) * v;
    let mut power = 2.0 * x * v;
    for odd in (3..).step_by(2) {
        power *= v * v;
        let next = sum + power / f64::from(odd);
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against exact whole-number sums.
    #[test]
    fn small_n_exactly() {
        for n in 1..=60u64 {
            let (mut sum, mut choose) = (0u128, 1u128);
            for k in 0..=n {
                sum += choose;
                let exact = sum as f64 / (n as f64).exp2();
                let ours = half_binomial_lower(k, n);
                assert!((ours / exact - 1.0).abs() < 1e-13, "{k} of {n}: {ours} {exact}");
                choose = choose * u128::from(n - k) / u128::from(k + 1);
            }
        }
        assert_eq!(half_binomial_lower(0, 0), 1.0);
        assert_eq!(half_binomial_lower(9, 5), 1.0);
        assert_eq!(half_binomial_lower(2, 5), 0.5);
    }
}
