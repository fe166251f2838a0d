//! Pearson's and Spearman's correlation coefficients of two columns of a million.
//!
//! `r = Σ (x − x̄)(y − ȳ) / √(Σ (x − x̄)² Σ (y − ȳ)²)`; Spearman's ρ is r of the midranks. Undefined
//! (`None`) where a column varies by no more than the rounding of its mean. Coefficients only: the
//! tests on them belong to the statistics crate.

use crate::order::{ascending, midranks};
use crate::sums::{mean, sum2};

/// Pearson's r.
pub(crate) fn pearson(x: &[f64], y: &[f64]) -> Option<f64> {
    let (mean_x, mean_y) = (mean(x)?, mean(y)?);
    if !varies(x, mean_x) || !varies(y, mean_y) {
        return None;
    }
    let xy = sum2(x, y, |x, y| (x - mean_x) * (y - mean_y));
    let xx = sum2(x, x, |x, _| (x - mean_x) * (x - mean_x));
    let yy = sum2(y, y, |y, _| (y - mean_y) * (y - mean_y));
    let r = xy / (xx * yy).sqrt();
    r.is_finite().then(|| r.clamp(-1.0, 1.0))
}

/// Spearman's ρ.
pub(crate) fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    if !varies(x, mean(x)?) || !varies(y, mean(y)?) {
        return None;
    }
    let (x, y) = rayon::join(|| midranks(x), || midranks(y));
    pearson(&x, &y)
}

/// r plus its influence function at each pair: their mean is r.
pub(crate) fn pearson_values(x: &[f64], y: &[f64]) -> Option<Vec<f64>> {
    let r = pearson(x, y)?;
    let (mean_x, mean_y) = (mean(x)?, mean(y)?);
    let sd = |values: &[f64], mean: f64| {
        (sum2(values, values, |v, _| (v - mean) * (v - mean)) / values.len() as f64).sqrt()
    };
    let (sd_x, sd_y) = (sd(x, mean_x), sd(y, mean_y));
    let value = |(x, y): (&f64, &f64)| {
        let (x, y) = ((x - mean_x) / sd_x, (y - mean_y) / sd_y);
        r + x * y - r / 2.0 * (x * x + y * y)
    };
    Some(x.iter().zip(y).map(value).collect())
}

/// ρ plus its influence function at each pair: their mean is ρ. An item moves ρ by its own ranks and by those of all
/// items that it stands below.
pub(crate) fn spearman_values(x: &[f64], y: &[f64]) -> Option<Vec<f64>> {
    let rho = spearman(x, y)?;
    let n = x.len() as f64;
    let centred = |values: &[f64]| -> Vec<f64> {
        midranks(values).iter().map(|rank| (rank - (n + 1.0) / 2.0) / n).collect()
    };
    let (a, b) = rayon::join(|| centred(x), || centred(y));
    let (product, square_a, square_b) = (
        sum2(&a, &b, |a, b| a * b) / n,
        sum2(&a, &a, |a, _| a * a) / n,
        sum2(&b, &b, |b, _| b * b) / n,
    );
    let (order_x, order_y) = rayon::join(|| ascending(x), || ascending(y));
    let (above_x, above_y) =
        (|of: &[f64]| above(x, &order_x, of), |of: &[f64]| above(y, &order_y, of));
    let (b_above, a_above) = rayon::join(|| above_x(&b), || above_y(&a));
    let (a_above_a, b_above_b) = rayon::join(|| above_x(&a), || above_y(&b));
    let root = (square_a * square_b).sqrt();
    let value = |at: usize| {
        let of_product = a[at] * b[at] + b_above[at] + a_above[at] - 3.0 * product;
        let of_a = a[at] * a[at] + 2.0 * a_above_a[at] - 3.0 * square_a;
        let of_b = b[at] * b[at] + 2.0 * b_above_b[at] - 3.0 * square_b;
        rho + of_product / root - rho / 2.0 * (of_a / square_a + of_b / square_b)
    };
    Some((0..x.len()).map(value).collect())
}

/// For each item the mean over all items of `of`, counted where their value is larger, half where it is equal.
fn above(values: &[f64], order: &[usize], of: &[f64]) -> Vec<f64> {
    let mut result = vec![0.0; values.len()];
    let (mut end, mut larger) = (order.len(), 0.0);
    while end > 0 {
        let value = values[order[end - 1]];
        let start = order[..end].partition_point(|&at| values[at] < value);
        let equal: f64 = order[start..end].iter().map(|&at| of[at]).sum();
        for &at in &order[start..end] {
            result[at] = (larger + equal / 2.0) / values.len() as f64;
        }
        larger += equal;
        end = start;
    }
    result
}

fn varies(values: &[f64], mean: f64) -> bool {
    values.iter().any(|v| (v - mean).abs() > 10.0 * f64::EPSILON * mean.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy 1.17.1, reference/measure/small.py:
    ///
    /// ```python
    /// x, y = [0.5, 0.1, 0.1, 2.0, -1.0, 0.0], [1.0, 0.3, 0.2, 0.2, -4.0, 8.0]
    /// print(scipy.stats.pearsonr(x, y)[0], scipy.stats.spearmanr(x, y)[0])
    /// ```
    #[test]
    fn as_scipy() {
        let (x, y) = ([0.5, 0.1, 0.1, 2.0, -1.0, 0.0], [1.0, 0.3, 0.2, 0.2, -4.0, 8.0]);
        assert!((pearson(&x, &y).unwrap() - PEARSON).abs() < 1e-14);
        assert!((spearman(&x, &y).unwrap() - SPEARMAN).abs() < 1e-14);
    }

    /// The influence of a pair is what a little more of its weight adds.
    #[test]
    fn influence_is_a_derivative() {
        let x: Vec<f64> = (0..300).map(|at| f64::from(at * 7919 % 300 / 3)).collect();
        let y: Vec<f64> =
            (0..300).map(|at| f64::from((at * 104_729 % 300) / 7) + 0.5 * x[at as usize]).collect();
        type Of = fn(&[f64], &[f64]) -> Option<f64>;
        type Values = fn(&[f64], &[f64]) -> Option<Vec<f64>>;
        let both: [(Of, Values); 2] = [(pearson, pearson_values), (spearman, spearman_values)];
        for (of, values) in both {
            let (estimate, values) = (of(&x, &y).unwrap(), values(&x, &y).unwrap());
            assert!((mean(&values).unwrap() - estimate).abs() < 1e-12);
            // Every pair 200 times, one of them once more.
            let many = |column: &[f64]| column.repeat(200);
            let (mut many_x, mut many_y) = (many(&x), many(&y));
            for at in [0, 17, 150, 299] {
                many_x.push(x[at]);
                many_y.push(y[at]);
                let moved = of(&many_x, &many_y).unwrap();
                many_x.pop();
                many_y.pop();
                let slope = (moved - estimate) * (200.0 * 300.0 + 1.0);
                assert!(
                    (slope - (values[at] - estimate)).abs() < 2e-3,
                    "{slope} {}",
                    values[at] - estimate
                );
            }
        }
    }

    #[test]
    fn constants_have_no_correlation() {
        assert_eq!(pearson(&[0.1, 0.1, 0.1], &[1.0, 2.0, 3.0]), None);
        assert_eq!(spearman(&[0.3 - 0.2, 0.2 - 0.1, 0.1], &[1.0, 2.0, 3.0]), None);
        assert_eq!(pearson(&[1.0], &[1.0]), None);
        assert_eq!(spearman(&[], &[]), None);
        assert_eq!(spearman(&[1.0, 2.0, 9.0], &[-1.0, 0.0, 7.0]), Some(1.0));
    }

    const PEARSON: f64 = 0.17510477902932148;
    const SPEARMAN: f64 = 0.1323529411764706;
}
