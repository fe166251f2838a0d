//! The spec of a study's runs: a TOML file, overrides on top of it, checked and resolved.
//!
//! Every key is in the list [`KEYS`], with its default and what it takes; [`template`] explains
//! them. A key that is not in the list is an error, and so is one that does not count with the
//! others (`momentum` with Adam): nothing is accepted and dropped. Errors name the section and the
//! key, what came, what was expected, and the line and column or the override.
//!
//! An override is `section.key=value`, where the value is TOML or else text:
//! `training.epochs=20`, `model.name=mlp`, `delivery.methods=["soft", "sls"]`. Tables are
//! overridden key by key; the last override of a key counts.

mod collect;
mod data;
mod delivery;
mod draft;
mod keys;
mod model;
mod read;
mod run;
mod selection;
mod split;
mod template;
mod training;

use dissensus_engine::Model;
use serde::Serialize;

pub use collect::setting;
pub use data::{Data, DataSource, EntropyBins, Pair, Reading, Votes};
pub use delivery::DeliveryChoice;
pub use dissensus_engine::Precision;
pub use draft::Draft;
pub use keys::{KEYS, Key, SECTIONS, When, choices};
pub use run::{Checkpoint, Run};
pub use selection::SelectionChoice;
pub(crate) use selection::selectable;
pub use split::SplitChoice;
pub use training::Training;

use crate::{RunPlan, SpecError, SplitPlan};

/// A checked spec with every setting resolved. Made by [`Spec::parse`] or [`Draft::check`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Spec {
    /// What is trained on.
    pub data: Data,
    /// How items are split.
    pub split: SplitChoice,
    /// What is trained.
    pub model: Model,
    /// What the loss sees.
    pub delivery: DeliveryChoice,
    /// How it is trained.
    pub training: Training,
    /// Which epoch is kept.
    pub selection: SelectionChoice,
    /// Seeds, and how the runs are run.
    pub run: Run,
}

/// A spec with every key, explained. It is valid as it is; what is commented out is the default, or
/// an example where there is none.
pub fn template() -> &'static str {
    &template::TEMPLATE
}

impl Spec {
    /// Reads and checks a spec. `name` is what errors call it; overrides are applied in order.
    pub fn parse(text: &str, name: &str, overrides: &[String]) -> Result<Self, SpecError> {
        let mut draft = Draft::parse(text, name)?;
        overrides.iter().try_for_each(|given| draft.override_with(given))?;
        draft.check()
    }

    /// The runs: for every method, in the order of the spec, every number of votes, and for each
    /// of these every seed.
    pub fn runs(&self) -> Vec<RunPlan> {
        let mut runs = Vec::new();
        for delivery in &self.delivery.methods {
            for &votes in &self.data.votes {
                runs.extend(self.run.seeds.iter().map(|&seed| RunPlan {
                    votes,
                    split: SplitPlan {
                        parts: self.split.parts.iter().map(|&part| part.to_owned()).collect(),
                        shares: self.split.shares.clone(),
                        stratify: self.split.stratify,
                        seed: self.split.seed.unwrap_or(seed),
                    },
                    model: self.model.clone(),
                    delivery: delivery.clone(),
                    target: self.delivery.target.clone(),
                    training: self.training,
                    selection: self.selection.clone(),
                    seed,
                    precision: self.run.precision,
                }));
            }
        }
        runs
    }
}
