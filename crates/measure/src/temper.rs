//! One temperature for all predictions: how much of a loss is confidence, how much is knowledge.
//!
//! Predictions `q` at inverse temperature `β` are `q_k^β / Σ_j q_j^β`. Their soft NLL is convex in
//! `β`, with the slope `E_q ln q − E_p ln q` and the curvature `Var_q ln q` (means over items), so
//! that Newton's steps within a bracket find its lowest place in a few passes. A class to which a
//! prediction gives nothing gets nothing at any temperature.
//! Memory: 8 K bytes per item while it is sought.

use rayon::prelude::*;

use crate::sums::{CHUNK, add, mean};

/// Predictions at their best temperature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tempered {
    /// The temperature: above 1 for predictions that are too sure of themselves, below 1 for those
    /// that are not sure enough.
    pub temperature: f64,
    /// The soft NLL there.
    pub nll: f64,
}

/// The least and the highest temperature that is looked at.
pub(crate) const RANGE: (f64, f64) = (0.01, 100.0);

/// Steps below this share of `β` are the last: what is left is its square.
const LAST: f64 = 1e-7;

/// Slopes below this, in nats, are rounding: predictions that are even, say.
const FLAT: f64 = 1e-14;

/// Far more passes than Newton's steps and halvings of the bracket need.
const PASSES: usize = 100;

/// About so many items say where to begin, where there are several times as many.
const SAMPLE: usize = 8192;

/// Over rows of probabilities and the soft NLL of each; `None` without rows or where one is
/// infinite.
pub(crate) fn best(rows: &[f64], classes: usize, floor: f64, nll: &[f64]) -> Option<Tempered> {
    let mean_nll = mean(nll).filter(|mean| mean.is_finite())?;
    let logarithms: Vec<f64> = rows.par_iter().map(|q| q.max(floor).ln()).collect();
    let stride = nll.len() / SAMPLE;
    let mut begin = 1.0;
    if stride > 3 {
        let some: Vec<f64> =
            logarithms.chunks_exact(classes).step_by(stride).flatten().copied().collect();
        let nll: Vec<f64> = nll.iter().step_by(stride).copied().collect();
        begin = 1.0 / seek(&some, classes, mean(&nll)?, 1.0).temperature;
    }
    Some(seek(&logarithms, classes, mean_nll, begin))
}

/// What an interval of the best temperature and of soft NLL at it is made of.
pub(crate) struct TemperedValues {
    /// The temperature plus its influence function at each item.
    pub(crate) temperature: Vec<f64>,
    /// Soft NLL of each item. That the temperature is fitted to the same items moves their mean by one part in their number.
    pub(crate) nll: Vec<f64>,
}

/// These values at the best temperature; `None` where that is an end of the range that is searched.
pub(crate) fn values(
    rows: &[f64],
    classes: usize,
    floor: f64,
    nll: &[f64],
    temperature: f64,
) -> Option<TemperedValues> {
    if temperature < 5.0 * RANGE.0 || temperature > RANGE.1 / 1.001 {
        return None;
    }
    let beta = 1.0 / temperature;
    let mut each = Vec::new();
    rows.par_chunks_exact(classes)
        .map(|row| {
            let logarithms: Vec<f64> = row.iter().map(|q| q.max(floor).ln()).collect();
            moments_of_row(&logarithms, beta)
        })
        .collect_into_vec(&mut each);
    let variance = each.iter().map(|[_, _, variance]| variance).sum::<f64>() / each.len() as f64;
    let slope = |([_, mean, _], nll): (&[f64; 3], &f64)| {
        temperature * (1.0 + (mean + nll) / (variance * beta))
    };
    let value = |([value, _, _], nll): (&[f64; 3], &f64)| value + beta * nll;
    let temperature = each.iter().zip(nll).map(slope).collect();
    Some(TemperedValues { temperature, nll: each.iter().zip(nll).map(value).collect() })
}

/// The mean soft NLL at this temperature; `None` without rows or where a soft NLL is infinite.
pub(crate) fn nll_at(
    rows: &[f64],
    classes: usize,
    floor: f64,
    nll: &[f64],
    temperature: f64,
) -> Option<f64> {
    let mean_nll = mean(nll).filter(|mean| mean.is_finite())?;
    let logarithms: Vec<f64> = rows.par_iter().map(|q| q.max(floor).ln()).collect();
    let beta = 1.0 / temperature;
    Some(moments(&logarithms, classes, beta)[0] + beta * mean_nll)
}

/// From this `β` on.
fn seek(logarithms: &[f64], classes: usize, mean_nll: f64, mut beta: f64) -> Tempered {
    let (mut low, mut high) = (1.0 / RANGE.1, 1.0 / RANGE.0);
    let mut found = Tempered { temperature: 1.0, nll: mean_nll };
    for _ in 0..PASSES {
        let [value, mean, variance] = moments(logarithms, classes, beta);
        let slope = mean + mean_nll;
        found = Tempered { temperature: 1.0 / beta, nll: value + beta * mean_nll };
        if slope > 0.0 {
            high = beta
        } else {
            low = beta
        }
        let step = if slope.abs() < FLAT { 0.0 } else { -slope / variance };
        if step.abs() < LAST * beta {
            found.temperature = 1.0 / (beta + step);
            found.nll += slope * step / 2.0;
            break;
        }
        let next = beta + step;
        beta = if next > low && next < high { next } else { (low * high).sqrt() };
        if high / low < 1.0 + LAST {
            break;
        }
    }
    found
}

/// Means over items of `ln Σ_k q_k^β`, and of mean and variance of `ln q` at this `β`.
fn moments(logarithms: &[f64], classes: usize, beta: f64) -> [f64; 3] {
    let chunks: Vec<[f64; 3]> = logarithms
        .par_chunks(CHUNK * classes)
        .map(|rows| {
            let mut sums = [0.0; 3];
            for row in rows.chunks_exact(classes) {
                add(&mut sums, &moments_of_row(row, beta));
            }
            sums
        })
        .collect();
    let mut sums = [0.0; 3];
    chunks.iter().for_each(|chunk| add(&mut sums, chunk));
    let items = (logarithms.len() / classes.max(1)) as f64;
    sums.map(|sum| sum / items)
}

/// Of one prediction at inverse temperature β: ln Σ q^β, and the mean and the variance of ln q.
fn moments_of_row(row: &[f64], beta: f64) -> [f64; 3] {
    let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let [mut total, mut first, mut second] = [0.0; 3];
    // From the largest on, so that nothing overflows and little cancels.
    for above in row.iter().map(|l| l - largest).filter(|l| l.is_finite()) {
        let weight = (beta * above).exp();
        total += weight;
        first += weight * above;
        second += weight * above * above;
    }
    let mean = first / total;
    [beta * largest + total.ln(), largest + mean, second / total - mean * mean]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &[f64], p: &[f64], classes: usize) -> Option<Tempered> {
        let nll = |(q, p): (&[f64], &[f64])| -> f64 {
            q.iter().zip(p).filter(|(_, p)| **p > 0.0).map(|(q, p)| -p * q.ln()).sum()
        };
        let nll: Vec<f64> =
            rows.chunks_exact(classes).zip(p.chunks_exact(classes)).map(nll).collect();
        best(rows, classes, 0.0, &nll)
    }

    #[test]
    fn known_answers() {
        // Odds of 4 : 1 are right at odds of 2 : 1 by the temperature ln 4 / ln 2.
        let found = of(&[0.8, 0.2, 0.2, 0.8], &[2.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0], 2);
        let found = found.unwrap();
        assert!((found.temperature - 2.0).abs() < 1e-13, "{found:?}");
        let entropy = 3f64.ln() - 2.0 / 3.0 * 2f64.ln();
        assert!((found.nll - entropy).abs() < 1e-15, "{found:?}");
        // Votes themselves need none.
        let rows = [0.7, 0.2, 0.1, 0.25, 0.25, 0.5];
        let found = of(&rows, &rows, 3).unwrap();
        assert!((found.temperature - 1.0).abs() < 1e-13, "{found:?}");
    }

    #[test]
    fn at_any_temperature() {
        let (rows, p) = ([0.8, 0.2, 0.2, 0.8], [0.9, 0.1, 0.6, 0.4]);
        let nll = [-0.9 * 0.8f64.ln() - 0.1 * 0.2f64.ln(), -0.6 * 0.2f64.ln() - 0.4 * 0.8f64.ln()];
        // At T = 1/2 odds of 4 : 1 are 16 : 1.
        let (high, low) = ((16.0f64 / 17.0).ln(), (1.0f64 / 17.0).ln());
        let expected = (-0.9 * high - 0.1 * low - 0.6 * low - 0.4 * high) / 2.0;
        let found = nll_at(&rows, 2, 0.0, &nll, 0.5).unwrap();
        assert!((found - expected).abs() < 1e-15, "{found} {expected}");
        assert!((nll_at(&rows, 2, 0.0, &nll, 1.0).unwrap() - mean(&nll).unwrap()).abs() < 1e-15);
        let best = of(&rows, &p, 2).unwrap();
        let there = nll_at(&rows, 2, 0.0, &nll, best.temperature).unwrap();
        assert!((there - best.nll).abs() < 1e-13, "{there} {best:?}");
        assert_eq!(nll_at(&[], 2, 0.0, &[], 1.0), None);
        assert_eq!(nll_at(&[1.0, 0.0], 2, 0.0, &[f64::INFINITY], 2.0), None);
    }

    /// The influence of an item is what a little more of its weight adds.
    #[test]
    fn influence_is_a_derivative() {
        let rows = [0.8, 0.2, 0.3, 0.7, 0.6, 0.4, 0.9, 0.1];
        let p: [f64; 8] = [0.6, 0.4, 0.4, 0.6, 0.7, 0.3, 0.7, 0.3];
        let nll =
            |(q, p): (&[f64], &[f64])| -> f64 { q.iter().zip(p).map(|(q, p)| -p * q.ln()).sum() };
        let nll: Vec<f64> = rows.chunks(2).zip(p.chunks(2)).map(nll).collect();
        let found = best(&rows, 2, 0.0, &nll).unwrap();
        let values = values(&rows, 2, 0.0, &nll, found.temperature).unwrap();
        assert!((mean(&values.temperature).unwrap() - found.temperature).abs() < 1e-9);
        assert!((mean(&values.nll).unwrap() - found.nll).abs() < 1e-12);
        for at in 0..4 {
            let (mut many_rows, mut many) = (rows.repeat(5000), nll.repeat(5000));
            many_rows.extend(&rows[2 * at..2 * at + 2]);
            many.push(nll[at]);
            let moved = best(&many_rows, 2, 0.0, &many).unwrap();
            let slope = (moved.temperature - found.temperature) * 20_001.0;
            let influence = values.temperature[at] - found.temperature;
            assert!(
                (slope - influence).abs() < 0.01 * influence.abs() + 1e-3,
                "{slope} {influence}"
            );
        }
    }

    #[test]
    fn the_ends_of_the_range_are_its_ends() {
        let sure = of(&[0.6, 0.4, 0.3, 0.7], &[1.0, 0.0, 0.0, 1.0], 2).unwrap();
        // Or where the slope is no longer told from rounding.
        assert!((RANGE.0..5.0 * RANGE.0).contains(&sure.temperature), "{sure:?}");
        assert!(sure.nll < 1e-13, "{sure:?}");
        let wrong = of(&[0.6, 0.4, 0.3, 0.7], &[0.0, 1.0, 1.0, 0.0], 2).unwrap();
        assert!((wrong.temperature / RANGE.1 - 1.0).abs() < 1e-6, "{wrong:?}");
        assert!((wrong.nll - 2f64.ln()).abs() < 0.01, "{wrong:?}");
    }

    #[test]
    fn what_says_nothing_is_left_as_it_is() {
        let even = of(&[0.5, 0.5], &[0.3, 0.7], 2).unwrap();
        assert_eq!((even.temperature, even.nll), (1.0, 2f64.ln()));
        let third = 1.0 / 3.0;
        let thirds = of(&[third; 9], &[0.1, 0.2, 0.7, 0.3, 0.3, 0.4, 0.7, 0.2, 0.1], 3).unwrap();
        assert_eq!(thirds.temperature, 1.0);
        let alone = of(&[1.0, 1.0], &[1.0, 1.0], 1).unwrap();
        assert_eq!((alone.temperature, alone.nll), (1.0, 0.0));
        assert_eq!(of(&[], &[], 2), None);
        assert_eq!(of(&[1.0, 0.0], &[0.5, 0.5], 2), None);
        let zeros = of(&[0.75, 0.25, 0.0], &[0.75, 0.25, 0.0], 3).unwrap();
        assert!((zeros.temperature - 1.0).abs() < 1e-13, "{zeros:?}");
    }
}
