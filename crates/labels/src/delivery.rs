//! How the distribution p_i of an example reaches the loss in epoch t (from 0).
//!
//! The target never changes; only its delivery does. One file per method, and [`DELIVERIES`] lists
//! them: the spec and its template, the command line, its help and `study new` read the entries. To
//! add one, write its file and add its line.
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
mod every_vote;
mod isotropic_noise;
mod label_smoothing;
mod listed;
mod majority;
mod mixup;
mod multipass;
mod prepared;
mod shuffled_noise;
mod shuffled_sls;
mod sls;
mod soft;
mod soft_noise;

use std::sync::Arc;

use dissensus_core::Scale;
use serde::{Deserialize, Serialize};

pub use deterministic::SHUFFLE_OFFSET;
pub use epochs::Epochs;
pub use every_vote::Samples;
pub use listed::{Drawing, ListedVotes};
pub use mixup::Mixing;
pub use prepared::{EpochBuffer, EpochTargets, Prepared};

use crate::params::Given;
use crate::{LabelError, Params, Setting, Source};
use prepared::Kind;

/// The delivery methods.
pub const DELIVERIES: &[DeliveryEntry] = &[
    soft::ENTRY,
    soft_noise::ENTRY,
    isotropic_noise::ENTRY,
    shuffled_noise::ENTRY,
    multipass::ENTRY,
    every_vote::ENTRY,
    deterministic::ENTRY,
    sls::ENTRY,
    shuffled_sls::ENTRY,
    majority::ENTRY,
    label_smoothing::ENTRY,
    mixup::ENTRY,
];

/// What a delivery method gives to the loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivers {
    /// One label per example.
    Labels,
    /// One distribution per example, the same in every epoch.
    Distributions,
    /// One distribution per example, another in every epoch.
    EpochDistributions,
    /// Labels of which an example may have several, each a [sample](Samples) of its own.
    Samples,
}

/// A delivery method of the list: everything that the rest of the program needs to know of it.
#[derive(Clone, Copy, Debug)]
pub struct DeliveryEntry {
    /// The name to type.
    pub name: &'static str,
    /// A short name for tables and figures.
    pub title: &'static str,
    /// What it is, in one line.
    pub description: &'static str,
    /// The target of the loss in epoch t.
    pub formula: &'static str,
    /// What it gives to the loss.
    pub delivers: Delivers,
    /// The scales of votes for which it is defined.
    pub scales: &'static [Scale],
    /// Whether it needs votes that can be counted; probabilities do not suffice.
    pub needs_counts: bool,
    /// Its settings, in the order in which they are written.
    pub settings: &'static [Setting],
    make: fn(&mut Given) -> Result<Method, LabelError>,
}

/// A method with its settings: what it prepares for a source and a seed.
type Method = Arc<dyn Fn(&Source<'_>, u64) -> Result<Kind, LabelError> + Send + Sync>;

fn method(
    prepare: impl Fn(&Source<'_>, u64) -> Result<Kind, LabelError> + Send + Sync + 'static,
) -> Method {
    Arc::new(prepare)
}

/// A delivery method with checked settings. Prints and serializes as its name with all of them.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Delivery {
    entry: &'static DeliveryEntry,
    text: String,
    method: Method,
}

impl Params {
    /// The delivery of this name, where the settings are its own and in range.
    pub fn check(&self) -> Result<Delivery, LabelError> {
        let entry = self.find("delivery", DELIVERIES, |entry| entry.name)?;
        let mut given = self.given(entry.name, entry.settings)?;
        let method = (entry.make)(&mut given)?;
        Ok(Delivery { entry, text: given.text(), method })
    }
}

impl Delivery {
    /// Its entry in the list.
    pub fn entry(&self) -> &'static DeliveryEntry {
        self.entry
    }

    /// Passes where the method is defined for votes on this scale.
    pub fn require(&self, scale: Scale) -> Result<(), LabelError> {
        let Self { entry, .. } = self;
        Ok(scale.require(&format!("the delivery {}", entry.name), entry.scales)?)
    }

    /// Makes everything that does not change from epoch to epoch.
    pub fn prepare(&self, source: &Source<'_>, seed: u64) -> Result<Prepared, LabelError> {
        self.require(source.classes().scale())?;
        let kind = (self.method)(source, seed)?;
        Ok(Prepared::new(self.clone(), seed, source, kind))
    }
}

crate::params::written_as_text!(Delivery, check);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::counted;

    #[test]
    fn the_list_is_complete() {
        let mut names = std::collections::BTreeSet::new();
        for entry in DELIVERIES {
            assert!(names.insert(entry.name), "{} twice", entry.name);
            let words =
                entry.settings.iter().flat_map(|s| [s.name, s.description, s.default, s.expected]);
            let own = [entry.name, entry.title, entry.description, entry.formula];
            for text in own.into_iter().chain(words) {
                assert!(!text.is_empty() && text.trim() == text, "{}: {text:?}", entry.name);
            }
            // Defaults are valid, every setting is read, and what is printed reads back.
            let delivery: Delivery = entry.name.parse().unwrap_or_else(|error| {
                panic!("{}: its defaults are refused: {error}", entry.name)
            });
            let text = delivery.to_string();
            let printed: Params = text.parse().unwrap();
            let defaults = entry.settings.iter().filter(|setting| !setting.came_later);
            let defaults: Vec<_> = defaults.map(|s| (s.name.into(), s.default.into())).collect();
            assert_eq!(printed.settings, defaults, "{text}");
            assert_eq!(text.parse::<Delivery>().unwrap(), delivery);
        }
    }

    #[test]
    fn every_method_delivers_on_the_scales_that_it_declares() {
        let votes = counted(&[vec![2, 1, 0], vec![0, 1, 4]]);
        for scale in Scale::ALL {
            for entry in DELIVERIES {
                let delivery: Delivery = entry.name.parse().unwrap();
                let prepared = || {
                    delivery.require(scale)?;
                    let table = votes.clone().with_scale(scale)?;
                    delivery.prepare(&Source::new(&table)?, 1).map(|_| ())
                };
                let found = prepared();
                let expected = match entry.scales.contains(&scale) {
                    true => Ok(()),
                    false => delivery.require(scale),
                };
                assert_eq!(found, expected, "{} {scale}", entry.name);
            }
        }
        let error = "sls".parse::<Delivery>().unwrap().require(Scale::MultiLabel).unwrap_err();
        let words = "the delivery sls is not defined for multi-label votes, only for nominal and \
                     ordinal ones";
        assert_eq!(error.to_string(), words);
    }

    #[test]
    fn settings_are_checked() {
        let error = |text: &str| text.parse::<Delivery>().unwrap_err().to_string();
        assert!(error("multi_pas").contains(r#"did you mean "multipass"?"#));
        assert!(error("multi_pas").contains("soft, soft_noise, isotropic_noise, shuffled_noise"));
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
