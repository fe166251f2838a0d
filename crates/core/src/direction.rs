//! Which way a number is better.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Which way a number is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Smaller is better.
    Lower,
    /// Larger is better.
    Higher,
    /// It describes; no value is better than another.
    #[default]
    Neither,
    /// A score of items, not of a model: larger means more out-of-distribution.
    HigherIsOut,
}

impl Direction {
    /// Whether one value can be better than another.
    pub fn is_directed(self) -> bool {
        matches!(self, Self::Lower | Self::Higher)
    }

    /// By how much `new` is better than `old`, negative where it is worse; `None` where neither way
    /// is better.
    pub fn gain(self, old: f64, new: f64) -> Option<f64> {
        match self {
            Self::Lower => Some(old - new),
            Self::Higher => Some(new - old),
            Self::Neither | Self::HigherIsOut => None,
        }
    }

    /// Whether `new` is strictly better than `old`.
    pub fn is_better(self, new: f64, old: f64) -> bool {
        match self {
            Self::Lower => new < old,
            Self::Higher => new > old,
            Self::Neither | Self::HigherIsOut => false,
        }
    }

    /// The arrow that tables put beside a name; empty where neither way is better.
    pub fn arrow(self) -> &'static str {
        match self {
            Self::Lower => "↓",
            Self::Higher => "↑",
            Self::Neither | Self::HigherIsOut => "",
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lower => "lower is better",
            Self::Higher => "higher is better",
            Self::Neither => "descriptive, neither way is better",
            Self::HigherIsOut => "higher = more out-of-distribution",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn better_by_direction() {
        assert!(Direction::Lower.is_better(1.0, 2.0) && !Direction::Lower.is_better(2.0, 2.0));
        assert!(Direction::Higher.is_better(2.0, 1.0) && !Direction::Higher.is_better(1.0, 2.0));
        assert_eq!(Direction::Lower.gain(2.0, 1.5), Some(0.5));
        assert_eq!(Direction::Higher.gain(2.0, 1.5), Some(-0.5));
        for direction in [Direction::Neither, Direction::HigherIsOut] {
            assert!(!direction.is_better(1.0, 2.0) && !direction.is_better(2.0, 1.0));
            assert_eq!((direction.gain(1.0, 2.0), direction.is_directed()), (None, false));
        }
    }
}
