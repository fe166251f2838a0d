//! What may be chosen about `blends`, and within what limits.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// How `blends` is made. [`check`](Self::check) it to generate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// How many images; 1 to 1,000,000.
    pub items: usize,
    /// How many votes each gets; at least 1, at most `annotators`.
    pub votes: VotesPerItem,
    /// Size of the population; 1 to 10,000. Nobody votes twice on an item.
    pub annotators: usize,
    /// How near the two glyphs of an image are in strength; 0 (one glyph alone) to 1 (always
    /// equal). At ½ the share of the weaker glyph is even between 0 and ½.
    pub ambiguity: f64,
    /// Standard deviation of the noise on a pixel, where 1 is from black to white; 0 to 1.
    pub noise: f64,
    /// The largest share of an image that is hidden; 0 to 1. Each hides between 0 and this.
    pub occlusion: f64,
    /// Another seed is another data set: other images, raters and votes.
    pub seed: u64,
}

/// Sized so that a small network trains in seconds on a CPU, and hard enough that the ways to
/// deliver labels differ: the mean of H(p*)/ln 10 is 0.25; of 50 votes all agree on one item in
/// eight.
impl Default for Settings {
    fn default() -> Self {
        Self {
            items: 4_000,
            votes: VotesPerItem::Fixed(50),
            annotators: 200,
            ambiguity: 0.5,
            noise: 0.08,
            occlusion: 0.35,
            seed: 0,
        }
    }
}

/// A setting outside its range.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{field} is {found}, but must be {allowed}")]
pub struct OutOfRange {
    pub field: &'static str,
    pub found: String,
    pub allowed: String,
}

/// Settings within their ranges.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct ValidSettings(Settings);

impl Settings {
    /// The most items.
    pub const MOST_ITEMS: usize = 1_000_000;
    /// The largest population.
    pub const MOST_ANNOTATORS: usize = 10_000;

    /// The settings, if all are within their ranges.
    pub fn check(self) -> Result<ValidSettings, OutOfRange> {
        whole("items", self.items, Self::MOST_ITEMS)?;
        whole("annotators", self.annotators, Self::MOST_ANNOTATORS)?;
        let (least, most) = self.votes.range();
        if least < 1 || most < least || most as usize > self.annotators {
            return Err(OutOfRange {
                field: "votes",
                found: self.votes.to_string(),
                allowed: format!("between 1 and the number of annotators, {}", self.annotators),
            });
        }
        unit("ambiguity", self.ambiguity)?;
        unit("noise", self.noise)?;
        unit("occlusion", self.occlusion)?;
        Ok(ValidSettings(self))
    }
}

impl ValidSettings {
    pub fn get(&self) -> &Settings {
        &self.0
    }
}

fn whole(field: &'static str, found: usize, most: usize) -> Result<(), OutOfRange> {
    if (1..=most).contains(&found) {
        return Ok(());
    }
    Err(OutOfRange { field, found: found.to_string(), allowed: format!("between 1 and {most}") })
}

fn unit(field: &'static str, found: f64) -> Result<(), OutOfRange> {
    if (0.0..=1.0).contains(&found) {
        return Ok(());
    }
    Err(OutOfRange { field, found: found.to_string(), allowed: "between 0 and 1".into() })
}

/// How many votes an item gets. As text `50`, or `3..8` for 3 to 8, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "NumberOrText", into = "String")]
pub enum VotesPerItem {
    /// The same for every item.
    Fixed(u32),
    /// Any number from the first to the second, each equally likely.
    Between(u32, u32),
}

impl VotesPerItem {
    /// The least and the most.
    pub fn range(self) -> (u32, u32) {
        match self {
            Self::Fixed(votes) => (votes, votes),
            Self::Between(least, most) => (least, most),
        }
    }
}

/// A text that does not say how many votes.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{found:?} is not a number of votes: write one number (50) or two (3..8, both included)")]
pub struct VotesPerItemError {
    pub found: String,
}

impl fmt::Display for VotesPerItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(votes) => write!(f, "{votes}"),
            Self::Between(least, most) => write!(f, "{least}..{most}"),
        }
    }
}

impl FromStr for VotesPerItem {
    type Err = VotesPerItemError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |part: &str| {
            part.trim().parse().map_err(|_| VotesPerItemError { found: text.to_owned() })
        };
        match text.split_once("..") {
            None => Ok(Self::Fixed(number(text)?)),
            Some((least, most)) => Ok(Self::Between(number(least)?, number(most)?)),
        }
    }
}

/// In a file the number may stand bare.
#[derive(Deserialize)]
#[serde(untagged)]
enum NumberOrText {
    Number(u32),
    Text(String),
}

impl TryFrom<NumberOrText> for VotesPerItem {
    type Error = VotesPerItemError;

    fn try_from(value: NumberOrText) -> Result<Self, Self::Error> {
        match value {
            NumberOrText::Number(votes) => Ok(Self::Fixed(votes)),
            NumberOrText::Text(text) => text.parse(),
        }
    }
}

impl From<VotesPerItem> for String {
    fn from(votes: VotesPerItem) -> Self {
        votes.to_string()
    }
}

#[cfg(test)]
mod tests {
    use serde::de::IntoDeserializer;
    use serde::de::value::Error;

    use super::*;

    fn refused(settings: Settings) -> String {
        settings.check().map_or_else(|e| e.to_string(), |_| String::new())
    }

    #[test]
    fn errors_name_the_field_what_came_and_the_range() {
        let ok = Settings::default;
        let cases = [
            (Settings { items: 0, ..ok() }, "items is 0, but must be between 1 and 1000000"),
            (
                Settings { annotators: 0, ..ok() },
                "annotators is 0, but must be between 1 and 10000",
            ),
            (
                Settings { annotators: 49, ..ok() },
                "votes is 50, but must be between 1 and the number of annotators, 49",
            ),
            (
                Settings { votes: VotesPerItem::Fixed(0), ..ok() },
                "votes is 0, but must be between 1 and the number of annotators, 200",
            ),
            (
                Settings { votes: VotesPerItem::Between(8, 3), ..ok() },
                "votes is 8..3, but must be between 1 and the number of annotators, 200",
            ),
            (Settings { ambiguity: 1.5, ..ok() }, "ambiguity is 1.5, but must be between 0 and 1"),
            (Settings { noise: -0.1, ..ok() }, "noise is -0.1, but must be between 0 and 1"),
            (
                Settings { occlusion: f64::NAN, ..ok() },
                "occlusion is NaN, but must be between 0 and 1",
            ),
        ];
        for (settings, message) in cases {
            assert_eq!(refused(settings), message);
        }
        assert_eq!(refused(ok()), "");
    }

    #[test]
    fn votes_per_item_as_text() {
        for (text, votes) in
            [("50", VotesPerItem::Fixed(50)), ("3..8", VotesPerItem::Between(3, 8))]
        {
            assert_eq!(text.parse(), Ok(votes));
            assert_eq!(votes.to_string(), text);
        }
        assert_eq!(" 3 .. 8".parse(), Ok(VotesPerItem::Between(3, 8)));
        for wrong in ["", "many", "3..", "..8", "-1", "3..=8", "1.5"] {
            let error = VotesPerItemError { found: wrong.to_owned() };
            assert_eq!(wrong.parse::<VotesPerItem>(), Err(error));
        }
    }

    #[test]
    fn votes_per_item_in_a_file() {
        let number = IntoDeserializer::<Error>::into_deserializer(50u32);
        assert_eq!(VotesPerItem::deserialize(number), Ok(VotesPerItem::Fixed(50)));
        let text = IntoDeserializer::<Error>::into_deserializer("3..8");
        assert_eq!(VotesPerItem::deserialize(text), Ok(VotesPerItem::Between(3, 8)));
        let wrong = IntoDeserializer::<Error>::into_deserializer("few");
        assert!(VotesPerItem::deserialize(wrong).is_err_and(|e| e.to_string().contains("few")));
    }
}
