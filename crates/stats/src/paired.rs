//! Tests on paired differences: the list, and how to make the differences.

mod sign;
mod signed_ranks;
mod student;
mod wilcoxon;

use serde::{Deserialize, Serialize};

pub use self::sign::{SignResult, sign_test};
pub(crate) use self::signed_ranks::SignedRanks;
pub use self::signed_ranks::ZeroMethod;
pub use self::student::{PairedTResult, paired_t};
pub use self::wilcoxon::{
    AUTO_EXACT_LIMIT, EXACT_LIMIT, NullDistribution, WilcoxonMethod, WilcoxonResult,
    WilcoxonSettings, wilcoxon,
};
use crate::{Alternative, StatsError, check};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairedTest {
    /// Wilcoxon's signed-rank test.
    #[default]
    Wilcoxon,
    T,
    Sign,
}

/// What one of the paired tests found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "test", rename_all = "kebab-case")]
pub enum PairedResult {
    /// From Wilcoxon's signed-rank test.
    Wilcoxon(WilcoxonResult),
    /// From the paired t test.
    T(PairedTResult),
    /// From the sign test.
    Sign(SignResult),
}

impl PairedTest {
    /// All of them, in the order of the help.
    pub const ALL: [Self; 3] = [Self::Wilcoxon, Self::T, Self::Sign];

    /// Runs the test with its default settings.
    pub fn run(
        self,
        differences: &[f64],
        alternative: Alternative,
    ) -> Result<PairedResult, StatsError> {
        Ok(match self {
            Self::Wilcoxon => {
                let settings = WilcoxonSettings { alternative, ..Default::default() };
                PairedResult::Wilcoxon(wilcoxon(differences, &settings)?)
            }
            Self::T => PairedResult::T(paired_t(differences, alternative)?),
            Self::Sign => PairedResult::Sign(sign_test(differences, alternative)?),
        })
    }
}

impl PairedResult {
    /// The p value, where it is defined.
    pub fn p(&self) -> Option<f64> {
        match self {
            Self::Wilcoxon(result) => result.p,
            Self::T(result) => result.p,
            Self::Sign(result) => result.p,
        }
    }
}

/// left − right, pair by pair.
pub fn differences(left: &[f64], right: &[f64]) -> Result<Vec<f64>, StatsError> {
    check::pairs(("left", left), ("right", right))?;
    let differences: Vec<f64> = left.iter().zip(right).map(|(a, b)| a - b).collect();
    match differences.iter().all(|d| d.is_finite()) {
        true => Ok(differences),
        false => Err(StatsError::Overflow { what: "left - right" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_runs_and_says_which_it_is() {
        for (test, name) in PairedTest::ALL.into_iter().zip(["wilcoxon", "t", "sign"]) {
            let result = test.run(&[1.0, 2.0, -0.5, 3.0], Alternative::Greater).unwrap();
            assert!(result.p().is_some_and(|p| p > 0.0 && p < 1.0));
            let written = serde_json::to_value(&result).unwrap();
            assert_eq!(written["test"], name);
            assert_eq!(serde_json::json!(test), name);
            assert_eq!(serde_json::from_value::<PairedResult>(written).unwrap(), result);
        }
    }

    #[test]
    fn pairs_are_subtracted_or_refused() {
        assert_eq!(differences(&[3.0, 1.0], &[1.0, 4.0]).unwrap(), [2.0, -3.0]);
        assert!(matches!(differences(&[1.0], &[]), Err(StatsError::Lengths { .. })));
        let overflow = differences(&[f64::MAX], &[-f64::MAX]);
        assert_eq!(overflow, Err(StatsError::Overflow { what: "left - right" }));
    }
}
