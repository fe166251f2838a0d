//! Some of the items of a part, by how much people disagree on them.

use std::fmt;
use std::str::FromStr;

use dissensus_measure::slices::top;
use serde::{Deserialize, Serialize};

use crate::ExamineError;

/// The share of the items that `high` means.
const HIGH: f64 = 0.1;

/// Which items, by annotator entropy in nats.
///
/// As text: `all`, `high` (the tenth that people disagree on most), `top:0.25`, `above:0.5`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Slice {
    #[default]
    All,
    /// This share of them with the highest entropies, rounded up. Equal entropies are never parted:
    /// all items that are equal to the lowest of these come along.
    Top(f64),
    /// Those with an entropy above this.
    Above(f64),
}

impl Slice {
    /// The tenth of the items that people disagree on most.
    pub const HIGH: Self = Self::Top(HIGH);

    /// The places of its items among these entropies, ascending.
    pub fn places(&self, entropies: &[f64]) -> Result<Vec<usize>, ExamineError> {
        Ok(match *self {
            Self::All => (0..entropies.len()).collect(),
            Self::Top(share) => top(entropies, share)?.map_or(Vec::new(), |slice| slice.items),
            Self::Above(bound) => {
                (0..entropies.len()).filter(|&item| entropies[item] > bound).collect()
            }
        })
    }
}

impl fmt::Display for Slice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Top(share) => write!(f, "top:{share}"),
            Self::Above(bound) => write!(f, "above:{bound}"),
        }
    }
}

impl FromStr for Slice {
    type Err = ExamineError;

    fn from_str(text: &str) -> Result<Self, ExamineError> {
        let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
        let slice = match text.split_once(':') {
            None if text == "all" => Some(Self::All),
            None if text == "high" => Some(Self::HIGH),
            Some(("top", share)) => {
                number(share).filter(|share| *share > 0.0 && *share <= 1.0).map(Self::Top)
            }
            Some(("above", bound)) => number(bound).map(Self::Above),
            _ => None,
        };
        slice.ok_or_else(|| ExamineError::Slice { text: text.to_owned() })
    }
}

impl From<Slice> for String {
    fn from(slice: Slice) -> Self {
        slice.to_string()
    }
}

impl TryFrom<String> for Slice {
    type Error = ExamineError;

    fn try_from(text: String) -> Result<Self, ExamineError> {
        text.parse()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn equal_entropies_are_never_parted() {
        let entropies = [0.0, 0.7, 0.5, 0.7, 0.5, 0.0, 0.9, 0.5, 0.0, 0.0];
        let of = |text: &str| text.parse::<Slice>().unwrap().places(&entropies).unwrap();
        assert_eq!(of("all").len(), 10);
        assert_eq!(of("high"), [6]);
        // A fifth is two items, and the two with 0.7 go together.
        assert_eq!(of("top:0.2"), [1, 3, 6]);
        assert_eq!(of("top:0.31"), [1, 2, 3, 4, 6, 7]);
        // Exactly at the bound is not above it.
        assert_eq!(of("above:0.5"), [1, 3, 6]);
        assert_eq!(of("above:2"), [0usize; 0]);
    }

    #[test]
    fn as_text_and_back() {
        for slice in [Slice::All, Slice::HIGH, Slice::Top(0.25), Slice::Above(0.5)] {
            assert_eq!(slice.to_string().parse::<Slice>().unwrap(), slice);
            let json = serde_json::to_string(&slice).unwrap();
            assert_eq!(serde_json::from_str::<Slice>(&json).unwrap(), slice);
        }
        for text in ["", "low", "top", "top:0", "top:1.5", "top:x", "above:inf", "below:1"] {
            let error = text.parse::<Slice>().unwrap_err().to_string();
            assert!(error.contains("expected all, high"), "{error}");
        }
    }
}
