//! The side of a test.

use serde::{Deserialize, Serialize};

/// What a test holds against the null hypothesis of no difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Alternative {
    /// Different, in either direction.
    #[default]
    TwoSided,
    /// The differences (or the correlation) lie below zero.
    Less,
    /// The differences (or the correlation) lie above zero.
    Greater,
}

impl Alternative {
    /// All of them, in the order of the help.
    pub const ALL: [Self; 3] = [Self::TwoSided, Self::Less, Self::Greater];

    /// The name to type, also the serialized one.
    pub fn name(self) -> &'static str {
        match self {
            Self::TwoSided => "two-sided",
            Self::Less => "less",
            Self::Greater => "greater",
        }
    }

    /// "two-sided" or "one-sided".
    pub fn sides(self) -> &'static str {
        if self == Self::TwoSided { "two-sided" } else { "one-sided" }
    }

    /// The alternative that fits the negated differences.
    pub fn swapped(self) -> Self {
        match self {
            Self::TwoSided => Self::TwoSided,
            Self::Less => Self::Greater,
            Self::Greater => Self::Less,
        }
    }

    /// The p value from both tails, each including what was observed. Two-sided p is twice the
    /// smaller tail, at most 1.
    pub(crate) fn p(self, less: f64, greater: f64) -> f64 {
        match self {
            Self::TwoSided => (2.0 * less.min(greater)).min(1.0),
            Self::Less => less,
            Self::Greater => greater,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_serialized_ones() {
        for alternative in Alternative::ALL {
            assert_eq!(serde_json::to_value(alternative).unwrap(), alternative.name());
            assert_eq!(alternative.swapped().swapped(), alternative);
        }
    }
}
