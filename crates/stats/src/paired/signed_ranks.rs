//! Signed ranks of differences, and the exact distribution of their sum.
//!
//! Under the null hypothesis each difference is as likely positive as negative, so the sum W⁺ of
//! the ranks that belong to positive differences takes each of the 2ⁿ sign patterns with equal
//! chance. The number of patterns with a given sum follows rank by rank, N(s) ← N(s) + N(s − r),
//! over doubled (whole) ranks, so that midranks are as exact as plain ones. F. Wilcoxon,
//! *Individual comparisons by ranking methods* (1945); zeros: J. W. Pratt, *Remarks on zeros and
//! ties in the Wilcoxon signed rank procedures* (1959).

use serde::{Deserialize, Serialize};

use crate::describe::compensated_sum;
use crate::{StatsError, ranks};

/// What becomes of pairs without a difference. The names and meanings are scipy's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ZeroMethod {
    /// Dropped before ranking.
    #[default]
    Wilcox,
    /// Ranked with the others, then their ranks dropped.
    Pratt,
    /// Ranked with the others, half of their ranks given to each side.
    Zsplit,
}

impl ZeroMethod {
    /// All of them, in the order of the help.
    pub const ALL: [Self; 3] = [Self::Wilcox, Self::Pratt, Self::Zsplit];
}

/// Doubled ranks of the differences that have a sign, and their sums.
pub(crate) struct SignedRanks {
    /// Of the differences that are not zero, ascending.
    pub(crate) doubled: Vec<u64>,
    pub(crate) plus: u64,
    pub(crate) minus: u64,
    /// Of the zeros, where they are ranked and kept.
    pub(crate) zeros: Vec<u64>,
    pub(crate) n_zero: usize,
    /// Differences that are not zero and share their rank with another.
    pub(crate) n_tied: usize,
}

impl SignedRanks {
    /// Ranks finite differences, after rounding them to multiples of `resolution` if there is one.
    pub(crate) fn new(
        differences: &[f64],
        method: ZeroMethod,
        resolution: Option<f64>,
    ) -> Result<Self, StatsError> {
        let signed = match resolution {
            None => differences.to_vec(),
            Some(step) => rounded(differences, step)?,
        };
        let n_zero = signed.iter().filter(|d| **d == 0.0).count();
        let ranked: Vec<f64> =
            signed.into_iter().filter(|d| *d != 0.0 || method != ZeroMethod::Wilcox).collect();
        let sizes: Vec<f64> = ranked.iter().map(|d| d.abs()).collect();
        let mut result =
            Self { doubled: Vec::new(), plus: 0, minus: 0, zeros: Vec::new(), n_zero, n_tied: 0 };
        for (rank, difference) in ranks::doubled(&sizes).into_iter().zip(ranked) {
            if difference == 0.0 {
                if method == ZeroMethod::Zsplit {
                    result.zeros.push(rank);
                }
                continue;
            }
            result.doubled.push(rank);
            *(if difference > 0.0 { &mut result.plus } else { &mut result.minus }) += rank;
        }
        result.doubled.sort_unstable();
        let shared = result.doubled.chunk_by(|a, b| a == b).filter(|group| group.len() > 1);
        result.n_tied = shared.map(<[u64]>::len).sum();
        Ok(result)
    }

    /// W⁺ and W⁻, with half of the zeros' ranks each where they are kept.
    pub(crate) fn sums(&self) -> (f64, f64) {
        let half = self.zeros.iter().sum::<u64>() as f64 / 4.0;
        (self.plus as f64 / 2.0 + half, self.minus as f64 / 2.0 + half)
    }

    /// How many additions the exact distribution takes; it does not depend on the signs.
    pub(crate) fn cells(&self) -> u64 {
        let total: u64 = self.doubled.iter().sum();
        (total / 2 / divisor(&self.doubled) + 1).saturating_mul(self.doubled.len() as u64)
    }
}

fn rounded(differences: &[f64], step: f64) -> Result<Vec<f64>, StatsError> {
    let multiples: Vec<f64> = differences.iter().map(|d| (d / step).round()).collect();
    if step > 0.0 && step.is_finite() && multiples.iter().all(|m| m.is_finite()) {
        return Ok(multiples);
    }
    let expected = "a positive number, not too small for the differences";
    Err(StatsError::Setting { name: "resolution", value: step.to_string(), expected })
}

/// 2 where all doubled ranks are even (no ties), which halves the table.
fn divisor(doubled: &[u64]) -> u64 {
    if doubled.iter().all(|rank| rank % 2 == 0) { 2 } else { 1 }
}

/// P(S ≤ sum) for S the sum of the ranks of a random subset. `doubled` ascending, at most a
/// thousand of them.
pub(crate) fn lower_tail(doubled: &[u64], sum: u64) -> f64 {
    let total: u64 = doubled.iter().sum();
    if sum >= total {
        return 1.0;
    }
    // S and total − S have one distribution: the upper half follows from the lower.
    let mirrored = total - sum - 1;
    if sum == mirrored {
        return 0.5;
    }
    if sum > mirrored {
        return 1.0 - lower_tail(doubled, mirrored);
    }
    let divisor = divisor(doubled);
    let most = (sum / divisor) as usize;
    // Counts, not shares: exact while below 2⁵³, and in the range of f64 up to a thousand ranks.
    let mut counts = vec![0.0; most + 1];
    counts[0] = 1.0;
    let (mut reach, mut without) = (0, Vec::new());
    for rank in doubled.iter().map(|rank| (rank / divisor) as usize) {
        if rank > most {
            break; // And so are all that follow: no pattern that counts holds one of them.
        }
        reach = (reach + rank).min(most);
        without.clear();
        without.extend_from_slice(&counts[..=reach - rank]);
        counts[rank..=reach].iter_mut().zip(&without).for_each(|(with, without)| *with += without);
    }
    compensated_sum(counts.into_iter()) * libm::exp2(-(doubled.len() as f64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The number of subsets of 1, 2, …, n with each sum: OEIS A053632, rows 3 and 4.
    #[test]
    fn plain_ranks() {
        let tails = |ranks: &[u64], most| {
            (0..=most).map(|sum| lower_tail(ranks, 2 * sum)).collect::<Vec<_>>()
        };
        assert_eq!(tails(&[2, 4, 6], 6), [1.0, 2.0, 3.0, 5.0, 6.0, 7.0, 8.0].map(|c| c / 8.0));
        let four = [1, 2, 3, 5, 7, 9, 11, 13, 14, 15, 16].map(|c| f64::from(c) / 16.0);
        assert_eq!(tails(&[2, 4, 6, 8], 10), four);
    }

    proptest! {
        #[test]
        fn the_tail_is_that_of_all_subsets(
            mut ranks in prop::collection::vec(1u64..12, 1..=10), sum in 0u64..120,
        ) {
            ranks.sort_unstable();
            let subset = |bits: u64| {
                ranks.iter().enumerate().map(move |(i, r)| if bits >> i & 1 == 1 { *r } else { 0 })
            };
            let patterns = 1u64 << ranks.len();
            let below = (0..patterns).filter(|&bits| subset(bits).sum::<u64>() <= sum).count();
            prop_assert_eq!(lower_tail(&ranks, sum), below as f64 / patterns as f64);
        }
    }
}
