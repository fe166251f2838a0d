//! What the classes of a task are to each other, and what is defined for which.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What a vote says, and whether its classes have an order that means something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// A vote is for one class; the classes are only different from each other.
    #[default]
    Nominal,
    /// A vote is for one class; the classes are grades, from the lowest to the highest.
    Ordinal,
    /// A vote is for any number of classes, also for none.
    MultiLabel,
}

impl Scale {
    /// Every scale.
    pub const ALL: [Self; 3] = [Self::Nominal, Self::Ordinal, Self::MultiLabel];
    /// The scales on which a vote is for exactly one class.
    pub const ONE_LABEL: &'static [Self] = &[Self::Nominal, Self::Ordinal];

    /// The name to type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nominal => "nominal",
            Self::Ordinal => "ordinal",
            Self::MultiLabel => "multilabel",
        }
    }

    /// Passes where `what` is defined for votes on this scale. The one place that words the error.
    pub fn require(self, what: &str, defined: &'static [Self]) -> Result<(), ScaleError> {
        match defined.contains(&self) {
            true => Ok(()),
            false => Err(ScaleError { what: what.to_owned(), found: self, defined }),
        }
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MultiLabel => "multi-label",
            other => other.name(),
        })
    }
}

impl FromStr for Scale {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let named = Self::ALL.into_iter().find(|scale| scale.name() == text);
        named.ok_or_else(|| "expected `nominal`, `ordinal` or `multilabel`".to_owned())
    }
}

/// Something was asked for on a scale for which it is not defined.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{what} is not defined for {found} votes, only for {} ones", listed(.defined))]
pub struct ScaleError {
    /// What was asked for.
    pub what: String,
    /// The scale of the votes.
    pub found: Scale,
    /// The scales for which it is defined.
    pub defined: &'static [Scale],
}

fn listed(scales: &[Scale]) -> String {
    scales.iter().map(Scale::to_string).collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_the_error_lists_what_is_defined() {
        for scale in Scale::ALL {
            assert_eq!(scale.name().parse(), Ok(scale));
        }
        assert!("interval".parse::<Scale>().is_err());
        assert_eq!(Scale::Ordinal.require("accuracy", Scale::ONE_LABEL), Ok(()));
        let error = Scale::MultiLabel.require("accuracy", Scale::ONE_LABEL).unwrap_err();
        let words =
            "accuracy is not defined for multi-label votes, only for nominal and ordinal ones";
        assert_eq!(error.to_string(), words);
    }
}
