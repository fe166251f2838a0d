//! How the distribution p_i of an example reaches the loss in epoch t (from 0).
//!
//! The target never changes; only its delivery does. One file a method, and [`DELIVERIES`] lists
//! them: the command line, its help and the docs take names and settings from there. To add one,
//! write its file and add its line.
//!
//! A [`Delivery`] is made from text (`sls`, `sls:every=5`), checked, and prepared for a [`Source`]
//! and a seed. What comes out, a [`Prepared`], answers for every epoch: the label of example i in
//! epoch t is a pure function of (seed, t, id of i). [`streams`](crate::streams) says which.
//!
//! For y ~ p, −ln q_y has the mean H(p, q) and the gradient q − e_y the mean q − p, so that labels
//! drawn from p_i train towards the same target as p_i itself, with the extra gradient covariance
//! Diag(p) − ppᵀ. `soft_noise` adds that very covariance to the distribution itself.
//! `tests/proposition.rs` checks both.

mod deterministic;
mod draws;
mod epochs;
mod label_smoothing;
mod listed;
mod majority;
mod mixup;
mod multipass;
mod prepared;
mod shuffled_sls;
mod sls;
mod soft;
mod soft_noise;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use deterministic::SHUFFLE_OFFSET;
pub use epochs::Epochs;
pub use listed::{Drawing, Listed};
pub use mixup::Mixing;
pub use prepared::{Prepared, Room, Seen};

use crate::params::Given;
use crate::{LabelError, Params, Setting, Source};
use prepared::Kind;

/// The delivery methods.
pub const DELIVERIES: &[Info] = &[
    soft::INFO,
    soft_noise::INFO,
    multipass::INFO,
    deterministic::INFO,
    sls::INFO,
    shuffled_sls::INFO,
    majority::INFO,
    label_smoothing::INFO,
    mixup::INFO,
];

/// A delivery method in words.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// The name to type.
    pub name: &'static str,
    /// What it is, in a line.
    pub title: &'static str,
    /// What the loss sees in epoch t.
    pub sees: &'static str,
    /// Whether the loss sees labels; else distributions, or distributions with noise.
    pub hard: bool,
    /// Whether votes have to be counted; probabilities will not do.
    pub needs_counts: bool,
    /// Its settings, in the order in which they are written.
    pub settings: &'static [Setting],
    make: fn(&mut Given) -> Result<Arc<dyn Method>, LabelError>,
}

/// A method with its settings.
trait Method: Send + Sync {
    fn prepare(&self, source: &Source<'_>, seed: u64) -> Result<Kind, LabelError>;
}

/// A delivery method with checked settings. Prints and serializes as its name with all of them.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Delivery {
    info: &'static Info,
    text: String,
    method: Arc<dyn Method>,
}

impl Params {
    /// The delivery of this name, where the settings are its own and in range.
    pub fn check(&self) -> Result<Delivery, LabelError> {
        let info = self.find("delivery", DELIVERIES, |info| info.name)?;
        let mut given = self.given(info.name, info.settings)?;
        let method = (info.make)(&mut given)?;
        Ok(Delivery { info, text: given.text(), method })
    }
}

impl Delivery {
    /// What the list says about it.
    pub fn info(&self) -> &'static Info {
        self.info
    }

    /// Makes everything that does not change from epoch to epoch.
    pub fn prepare(&self, source: &Source<'_>, seed: u64) -> Result<Prepared, LabelError> {
        let kind = self.method.prepare(source, seed)?;
        Ok(Prepared::new(self.clone(), seed, source, kind))
    }
}

impl FromStr for Delivery {
    type Err = LabelError;

    fn from_str(text: &str) -> Result<Self, LabelError> {
        text.parse::<Params>()?.check()
    }
}

impl TryFrom<String> for Delivery {
    type Error = LabelError;

    fn try_from(text: String) -> Result<Self, LabelError> {
        text.parse()
    }
}

impl From<Delivery> for String {
    fn from(delivery: Delivery) -> Self {
        delivery.text
    }
}

impl fmt::Display for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Delivery({})", self.text)
    }
}

impl PartialEq for Delivery {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_complete() {
        let mut names = std::collections::BTreeSet::new();
        for info in DELIVERIES {
            assert!(names.insert(info.name), "{} twice", info.name);
            let words = info.settings.iter().flat_map(|s| [s.name, s.about, s.default, s.expected]);
            for text in [info.name, info.title, info.sees].into_iter().chain(words) {
                assert!(!text.is_empty() && text.trim() == text, "{}: {text:?}", info.name);
            }
            // Defaults are valid, every setting is read, and what is printed reads back.
            let delivery: Delivery = info.name.parse().unwrap();
            let text = delivery.to_string();
            let printed: Params = text.parse().unwrap();
            assert_eq!(printed.settings.len(), info.settings.len(), "{text}");
            for (printed, setting) in printed.settings.iter().zip(info.settings) {
                assert_eq!(
                    (printed.0.as_str(), printed.1.as_str()),
                    (setting.name, setting.default)
                );
            }
            assert_eq!(text.parse::<Delivery>().unwrap(), delivery);
        }
    }

    #[test]
    fn settings_are_checked() {
        let error = |text: &str| text.parse::<Delivery>().unwrap_err().to_string();
        assert!(error("multi_pas").contains(r#"did you mean "multipass"?"#));
        assert!(error("multi_pas").contains("soft, soft_noise, multipass, deterministic, sls"));
        assert_eq!(error("soft:x=1"), r#"soft has no setting "x"; it has none"#);
        assert_eq!(error("sls:evry=1"), r#"sls has no setting "evry"; it has every"#);
        let message = error("label_smoothing:eps=1");
        assert!(message.ends_with("did you mean epsilon? It has epsilon, ties"), "{message}");
        for bad in ["sls:every=0", "sls:every=-1", "sls:every=2.5", "mixup:alpha=0"] {
            assert!(error(bad).contains("; expected "), "{}", error(bad));
        }
        for bad in ["mixup:alpha=inf", "label_smoothing:epsilon=1.1", "majority:ties=first"] {
            assert!(error(bad).contains("; expected "), "{}", error(bad));
        }
    }

    #[test]
    fn deliveries_are_written_as_text() {
        let delivery: Delivery = serde_json::from_str(r#""sls:every=05""#).unwrap();
        assert_eq!(serde_json::to_string(&delivery).unwrap(), r#""sls:every=5""#);
        assert!(serde_json::from_str::<Delivery>(r#""sls:every=x""#).is_err());
    }
}
