//! A bootstrap over items, each side on its own.
//!
//! A replicate draws as many inside items as there are from the inside ones, with replacement, and
//! outside items likewise; its figures are those of the drawn. Scores are sorted once: a draw only
//! counts up the step that its item stands on. The interval is the 2.5 % and 97.5 % quantiles of
//! the replicates (interpolated between neighbours).
//!
//! Replicate b is a pure function of (seed, b): the items are successive draws of the Philox stream
//! at place (b, side, 0), side 0 inside and 1 outside, as places among the side's scores in
//! ascending order. B. Efron and R. J. Tibshirani, *An Introduction to the Bootstrap* (1993).

use dissensus_core::philox::{Stream, stream};
use rayon::prelude::*;

use super::Interval;
use super::detection::{average_precision, false_positives};

/// The second word of the key, which parts these draws from others under the same seed.
const STREAM: u64 = stream(b"ood");

/// How many figures a replicate has.
const FIGURES: usize = 4;

/// The intervals of aupr_out, aupr_in, fpr95 and fpr95_in over steps of (inside, outside) items,
/// ascending. `None` with fewer than two items on either side or no replicates.
pub(super) fn bootstrap(
    steps: &[(usize, usize)],
    n_in: usize,
    n_out: usize,
    replicates: usize,
    seed: u64,
) -> Option<[Interval; FIGURES]> {
    if n_in < 2 || n_out < 2 || replicates == 0 {
        return None;
    }
    // Half-width numbers, since the draws go all over them: they stay in the nearer cache. A step
    // beyond them would need 64 GiB of scores.
    let places = |side: fn(&(usize, usize)) -> usize| -> Vec<u32> {
        let place = |(at, step)| std::iter::repeat_n(at as u32, side(step));
        steps.iter().enumerate().flat_map(place).collect()
    };
    let (inside, outside) = (places(|step| step.0), places(|step| step.1));
    let replicate = |counts: &mut Vec<(u32, u32)>, b: usize| {
        counts.clear();
        counts.resize(steps.len(), (0, 0));
        let draws = |side| Stream::new([seed, STREAM], [b as u64, side, 0]);
        let mut draw = draws(0);
        (0..n_in).for_each(|_| counts[inside[draw.below(n_in as u64) as usize] as usize].0 += 1);
        let mut draw = draws(1);
        (0..n_out).for_each(|_| counts[outside[draw.below(n_out as u64) as usize] as usize].1 += 1);
        // A step that nobody stands on changes no figure.
        counts.retain(|step| *step != (0, 0));
        let whole = |&(inside, outside): &(u32, u32)| (inside as usize, outside as usize);
        let down = || counts.iter().rev().map(whole);
        let up = || counts.iter().map(whole).map(|(inside, outside)| (outside, inside));
        [
            average_precision(down(), n_out),
            average_precision(up(), n_in),
            false_positives(down(), n_in, n_out),
            false_positives(up(), n_out, n_in),
        ]
    };
    let drawn: Vec<[f64; FIGURES]> =
        (0..replicates).into_par_iter().map_init(Vec::new, replicate).collect();
    Some(std::array::from_fn(|figure| interval(drawn.iter().map(|all| all[figure]).collect())))
}

fn interval(mut values: Vec<f64>) -> Interval {
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    let standard_error = (squares / (n - 1.0).max(1.0)).sqrt();
    Interval { low: quantile(&values, 0.025), high: quantile(&values, 0.975), standard_error }
}

/// Of at least one value, ascending.
fn quantile(values: &[f64], level: f64) -> f64 {
    let at = level * (values.len() - 1) as f64;
    let (below, above) = (values[at.floor() as usize], values[at.ceil() as usize]);
    below + (above - below) * at.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// numpy 2.4.6: `np.quantile([1, 2, 4, 8, 16], [0.025, 0.975])`.
    #[test]
    fn quantiles_as_numpy() {
        let found = interval(vec![8.0, 1.0, 16.0, 4.0, 2.0]);
        assert!((found.low - 1.1).abs() < 1e-15 && (found.high - 15.2).abs() < 1e-14);
        assert_eq!(interval(vec![3.0]), Interval { low: 3.0, high: 3.0, standard_error: 0.0 });
    }

    /// fpr95 of sides that are far apart is a share of inside items above a bar that does not
    /// move: its replicates are binomial, sd √(p (1 − p) / n), within 5 % at 2000 replicates (the
    /// standard error of an sd is a share of 1/√(2·2000) = 1.6 %).
    #[test]
    fn as_wide_as_theory_says() {
        let (n_in, n_out) = (400, 50);
        let found = bootstrap(&[(320, 0), (0, n_out), (80, 0)], n_in, n_out, 2000, 3).unwrap();
        let sd = (0.2f64 * 0.8 / 400.0).sqrt();
        assert!((found[2].standard_error / sd - 1.0).abs() < 0.05, "{:?}", found[2]);
        assert!((found[2].low - (0.2 - 1.96 * sd)).abs() < 0.005, "{:?}", found[2]);
        assert!((found[2].high - (0.2 + 1.96 * sd)).abs() < 0.005, "{:?}", found[2]);
        assert_eq!(bootstrap(&[(1, 0), (0, 5)], 1, 5, 10, 0), None);
        assert_eq!(bootstrap(&[(5, 5)], 5, 5, 0, 0), None);
    }
}
