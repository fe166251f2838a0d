//! What can be wrong with an input, and why a sound input may still have no answer.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Input that makes no sense. Names what was given, where, and what was expected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StatsError {
    #[error("{what}: empty; expected at least one value")]
    Empty { what: &'static str },
    #[error("{what}[{index}] is {value}; expected a finite number")]
    NotFinite {
        what: &'static str,
        /// Its position, from 0.
        index: usize,
        value: f64,
    },
    #[error("{left} has {left_len} values and {right} has {right_len}; expected as many of each")]
    Lengths { left: &'static str, left_len: usize, right: &'static str, right_len: usize },
    #[error("{what}[{index}] is {value}; expected a probability from 0 to 1")]
    NotProbability {
        what: &'static str,
        /// Its position, from 0.
        index: usize,
        value: f64,
    },
    /// Finite input whose result leaves the range of f64.
    #[error("{what}: too large for a 64-bit float")]
    Overflow { what: &'static str },
    #[error("{name} is {value}; expected {expected}")]
    Setting { name: &'static str, value: String, expected: &'static str },
    #[error("an exact p for {n} {unit} is out of reach (the limit is {limit}); use {instead}")]
    ExactOutOfReach {
        /// How many of the units below.
        n: u64,
        unit: &'static str,
        limit: u64,
        instead: &'static str,
    },
}

/// Why a sound input has no answer. Stands in a result beside the `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Undefined {
    /// Every difference is zero: there is nothing to test.
    NoDifferences,
    /// The values do not vary (beyond rounding), so that nothing can be divided by their spread.
    NoVariation,
    /// There are fewer values than the computation needs.
    TooFew {
        n: usize,
        /// How many it takes.
        needed: usize,
    },
    /// The statistic is undefined on the sample itself.
    Statistic,
    /// The statistic is undefined on more than half of the bootstrap replicates.
    Replicates,
    /// All bootstrap replicates lie on one side of the estimate: the bias correction is infinite.
    OneSided,
    /// The statistic is undefined, or does not vary, when single units are left out.
    Jackknife,
    /// The acceleration is so strong that the BCa levels are no longer in order.
    Acceleration,
}

impl fmt::Display for Undefined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDifferences => f.write_str("every difference is zero"),
            Self::NoVariation => f.write_str("the values do not vary"),
            Self::TooFew { n, needed } => write!(f, "{n} of at least {needed} values"),
            Self::Statistic => f.write_str("the statistic is undefined on the sample"),
            Self::Replicates => {
                f.write_str("the statistic is undefined on more than half of the replicates")
            }
            Self::OneSided => f.write_str("all replicates lie on one side of the estimate"),
            Self::Jackknife => {
                f.write_str("the statistic is undefined or constant with single units left out")
            }
            Self::Acceleration => f.write_str("the acceleration is too strong for BCa"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_what_and_where() {
        let error = StatsError::NotFinite { what: "left", index: 3, value: f64::NAN };
        assert_eq!(error.to_string(), "left[3] is NaN; expected a finite number");
        let reason = Undefined::TooFew { n: 1, needed: 2 };
        assert_eq!(reason.to_string(), "1 of at least 2 values");
        let written = serde_json::to_string(&reason).unwrap();
        assert_eq!(written, r#"{"too-few":{"n":1,"needed":2}}"#);
        assert_eq!(serde_json::from_str::<Undefined>(&written).unwrap(), reason);
    }
}
