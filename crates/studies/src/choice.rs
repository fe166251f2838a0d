//! Which runs of a study, as people type them.

use std::fmt;
use std::str::FromStr;

use dissensus_core::limits::{MAX_SEEDS, MAX_VOTES_PER_ITEM};
use dissensus_core::thousands;

/// Which seeds: at most so many (`5`), or a range with both ends (`5-9`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedChoice {
    /// At most so many per arm.
    Most(u64),
    /// From the first to the last, both included.
    Between(u64, u64),
}

impl FromStr for SeedChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            let most = thousands(MAX_SEEDS as usize);
            format!(
                "expected a whole number from 1 to {most}, or two seeds, the smaller first, as in 5-9"
            )
        };
        match text.split_once('-') {
            None => {
                let most = text.parse().ok().filter(|most| (1..=MAX_SEEDS).contains(most));
                most.map(Self::Most).ok_or_else(wrong)
            }
            Some((first, last)) => match (first.parse(), last.parse()) {
                (Ok(first), Ok(last)) if first <= last => Ok(Self::Between(first, last)),
                _ => Err(wrong()),
            },
        }
    }
}

impl fmt::Display for SeedChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Most(most) => write!(f, "{most}"),
            Self::Between(first, last) => write!(f, "{first}-{last}"),
        }
    }
}

/// A number of votes per item, or `all`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VoteChoice(pub Option<u32>);

impl FromStr for VoteChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self(None));
        }
        let votes = text.parse().ok().filter(|votes| (1..=MAX_VOTES_PER_ITEM).contains(votes));
        votes.map(|votes| Self(Some(votes))).ok_or_else(|| {
            let most = thousands(MAX_VOTES_PER_ITEM as usize);
            format!("expected a whole number from 1 to {most}, or all")
        })
    }
}

impl fmt::Display for VoteChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(votes) => write!(f, "{votes}"),
            None => write!(f, "all"),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read_and_written() {
        for text in ["5", "0-0", "5-9"] {
            assert_eq!(text.parse::<SeedChoice>().unwrap().to_string(), text);
        }
        assert!(
            ["0", "9-5", "-1", "a", "99999999"].iter().all(|t| t.parse::<SeedChoice>().is_err())
        );
        for text in ["1", "all"] {
            assert_eq!(text.parse::<VoteChoice>().unwrap().to_string(), text);
        }
        assert!(["0", "-3", "1000001", "1e9"].iter().all(|t| t.parse::<VoteChoice>().is_err()));
    }
}
