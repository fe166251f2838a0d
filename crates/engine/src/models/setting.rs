//! Settings of models: a name, a default, a range and one line of description.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A setting of a model.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub name: &'static str,
    /// What it is, in one line.
    pub description: &'static str,
    /// Its value where none is given.
    pub default: SettingValue,
    /// The default as it is written in a file.
    pub default_text: &'static str,
    /// The values it takes, in words.
    pub expected: &'static str,
    /// The least value.
    pub(super) least: f64,
    /// The bound above.
    pub(super) most: f64,
}

/// The value of a setting. Both kinds keep their form where they are written.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SettingValue {
    Whole(u64),
    Number(f64),
}

impl Setting {
    /// The value in the form of this setting; `None` where it is out of range or of another type.
    pub fn check(&self, value: SettingValue) -> Option<SettingValue> {
        match (self.default, value) {
            // Bounds are small numbers, which f64 holds exactly.
            (SettingValue::Whole(_), SettingValue::Whole(whole)) => {
                (self.least..=self.most).contains(&(whole as f64)).then_some(value)
            }
            (SettingValue::Number(_), SettingValue::Number(number)) => {
                (self.least..self.most).contains(&number).then_some(value)
            }
            (SettingValue::Number(_), SettingValue::Whole(whole)) => {
                self.check(SettingValue::Number(whole as f64))
            }
            (SettingValue::Whole(_), SettingValue::Number(_)) => None,
        }
    }
}

/// A [`Setting`] whose words are made of its numbers: `whole` takes both bounds, `number` takes the
/// lower one and everything below the upper one.
macro_rules! setting {
    (whole $name:literal = $default:literal, $least:literal to $most:literal, $about:literal) => {
        $crate::models::Setting {
            name: $name,
            description: $about,
            default: $crate::models::SettingValue::Whole($default),
            default_text: stringify!($default),
            expected: concat!("a whole number from ", $least, " to ", $most),
            least: $least as f64,
            most: $most as f64,
        }
    };
    (number $name:literal = $default:literal, $least:literal to below $most:literal, $about:literal) => {
        $crate::models::Setting {
            name: $name,
            description: $about,
            default: $crate::models::SettingValue::Number($default),
            default_text: stringify!($default),
            expected: concat!("a number from ", $least, " to below ", $most),
            least: $least as f64,
            most: $most as f64,
        }
    };
}
pub(super) use setting;

impl From<u64> for SettingValue {
    fn from(value: u64) -> Self {
        Self::Whole(value)
    }
}

impl From<f64> for SettingValue {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl fmt::Display for SettingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value:?}"),
        }
    }
}
