//! The smallest p that a test can give for so many pairs.
//!
//! An exact test on signs has 2ⁿ equally likely outcomes for n pairs that differ, and its most
//! extreme one (all of a sign) is a single pattern: p is at least 2⁻ⁿ one-sided and 2¹⁻ⁿ two-sided.
//! That holds with ties too: ranks are above zero, so that only one pattern sums to zero. Pairs
//! without a difference add no pattern. Five seeds can never be significant at 0.05 two-sided,
//! whatever the result; a table that reports such a test should say so.

use serde::{Deserialize, Serialize};

use crate::paired::{AUTO_EXACT_LIMIT, PairedTest};
use crate::{Alternative, StatsError, check};

/// The floor under a test's p.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SmallestP {
    pub test: PairedTest,
    /// Its side.
    pub alternative: Alternative,
    /// Pairs given.
    pub n: usize,
    /// Of these, without a difference.
    pub n_zero: usize,
    /// The smallest p that the rest can give; 1 where none is left.
    pub p: f64,
}

impl SmallestP {
    /// For `n` pairs of which `n_zero` do not differ. `None` for a test without a floor: the t
    /// test, and Wilcoxon's where its distribution is approximated.
    pub fn of(
        test: PairedTest,
        alternative: Alternative,
        n: usize,
        n_zero: usize,
    ) -> Result<Option<Self>, StatsError> {
        let Some(used) = n.checked_sub(n_zero) else {
            let expected = "at most as many as there are pairs";
            return Err(StatsError::Setting {
                name: "n_zero",
                value: n_zero.to_string(),
                expected,
            });
        };
        let floored = match test {
            PairedTest::Wilcoxon => used <= AUTO_EXACT_LIMIT,
            PairedTest::Sign => true,
            PairedTest::T => false,
        };
        let one_sided = libm::exp2(-(used as f64));
        let p = alternative.p(one_sided, one_sided);
        Ok(floored.then_some(Self { test, alternative, n, n_zero, p }))
    }

    /// For these differences, counting the zeros among them.
    pub fn of_differences(
        test: PairedTest,
        alternative: Alternative,
        differences: &[f64],
    ) -> Result<Option<Self>, StatsError> {
        check::finite("differences", differences)?;
        let n_zero = differences.iter().filter(|d| **d == 0.0).count();
        Self::of(test, alternative, differences.len(), n_zero)
    }

    /// A sentence for the foot of a table.
    pub fn note(&self, alpha: f64) -> String {
        let pairs = if self.n == 1 { "pair" } else { "pairs" };
        let zeros = match self.n_zero {
            0 => String::new(),
            zeros => format!(", {zeros} of them without a difference"),
        };
        if self.n == self.n_zero {
            return format!("{} {pairs}{zeros}: there is nothing to test", self.n);
        }
        let verdict = match self.p > alpha {
            true => format!("; no result can be significant at {alpha}"),
            false => String::new(),
        };
        format!(
            "{} {pairs}{zeros}: the smallest p that this test can give is {} {}{verdict}",
            self.n,
            short(self.p),
            self.alternative.sides()
        )
    }
}

/// Exactly as long as that is short: 0.0625, 0.000977, 1.9e-6.
fn short(p: f64) -> String {
    match p {
        p if p >= 0.01 => p.to_string(),
        p if p >= 1e-4 => format!("{p:.6}"),
        p if p >= 1e-300 => format!("{p:.1e}"),
        _ => "below 1e-300".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paired::PairedResult;

    fn floor(test: PairedTest, alternative: Alternative, n: usize, n_zero: usize) -> SmallestP {
        SmallestP::of(test, alternative, n, n_zero).unwrap().unwrap()
    }

    #[test]
    fn notes() {
        let two_sided = floor(PairedTest::Wilcoxon, Alternative::TwoSided, 5, 0);
        assert_eq!(
            two_sided.note(0.05),
            "5 pairs: the smallest p that this test can give is 0.0625 two-sided; \
             no result can be significant at 0.05"
        );
        let one_sided = floor(PairedTest::Sign, Alternative::Greater, 5, 0);
        assert_eq!(
            one_sided.note(0.05),
            "5 pairs: the smallest p that this test can give is 0.03125 one-sided"
        );
        let zeros = floor(PairedTest::Wilcoxon, Alternative::TwoSided, 6, 2);
        assert_eq!(
            zeros.note(0.05),
            "6 pairs, 2 of them without a difference: the smallest p that this test can give is \
             0.125 two-sided; no result can be significant at 0.05"
        );
        let nothing = floor(PairedTest::Sign, Alternative::Less, 1, 1);
        assert_eq!(
            nothing.note(0.05),
            "1 pair, 1 of them without a difference: there is nothing to test"
        );
        assert!(floor(PairedTest::Sign, Alternative::Less, 20, 0).note(0.05).contains("9.5e-7"));
        assert!(floor(PairedTest::Sign, Alternative::Less, 10, 0).note(0.05).contains("0.000977"));
    }

    #[test]
    fn tests_without_a_floor() {
        let of = |test, n| SmallestP::of(test, Alternative::TwoSided, n, 0).unwrap();
        assert_eq!(of(PairedTest::T, 5), None);
        assert_eq!(of(PairedTest::Wilcoxon, AUTO_EXACT_LIMIT + 1), None);
        assert!(of(PairedTest::Sign, 5000).unwrap().note(0.05).contains("below 1e-300"));
        assert!(SmallestP::of(PairedTest::Sign, Alternative::Less, 1, 2).is_err());
    }

    /// The floor is what the tests give on the most extreme differences, ties and zeros included.
    #[test]
    fn the_tests_reach_their_floor_and_no_less() {
        for differences in [vec![1.0, 2.0, 3.0], vec![2.0; 5], vec![0.0, 1.0, 1.0, 4.0], vec![0.5]]
        {
            for test in [PairedTest::Wilcoxon, PairedTest::Sign] {
                for alternative in [Alternative::TwoSided, Alternative::Greater] {
                    let result: PairedResult = test.run(&differences, alternative).unwrap();
                    let floor = SmallestP::of_differences(test, alternative, &differences);
                    assert_eq!(result.p(), Some(floor.unwrap().unwrap().p));
                }
            }
        }
    }
}
