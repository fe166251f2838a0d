//! Which class is the majority of an item whose most-voted classes are tied.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Which class is the majority of an item whose most-voted classes are tied.
///
/// ```
/// use dissensus_core::TieRule;
/// assert_eq!("random".parse(), Ok(TieRule::Random));
/// assert_eq!(TieRule::default().to_string(), "lowest");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TieRule {
    /// The tied class with the lowest index.
    #[default]
    Lowest,
    /// One of the tied classes, each equally likely, fixed by seed and item.
    Random,
    /// Ties are an error that names the items.
    Error,
}

/// A text that names no rule for ties.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no rule {0:?} for ties; expected `lowest`, `random` or `error`")]
pub struct UnknownTieRule(pub String);

impl FromStr for TieRule {
    type Err = UnknownTieRule;

    fn from_str(text: &str) -> Result<Self, UnknownTieRule> {
        match text {
            "lowest" => Ok(Self::Lowest),
            "random" => Ok(Self::Random),
            "error" => Ok(Self::Error),
            other => Err(UnknownTieRule(other.to_owned())),
        }
    }
}

impl fmt::Display for TieRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lowest => "lowest",
            Self::Random => "random",
            Self::Error => "error",
        })
    }
}
