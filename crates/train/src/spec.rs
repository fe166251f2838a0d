//! Configuration files: the settings of runs, in TOML, with overrides.
//!
//! A training spec has the sections `[data]`, `[split]`, `[model]`, `[delivery]`, `[training]`,
//! `[selection]` and `[run]`. A study has the same sections, and more of its own (`[study]`, `[[arm]]`,
//! `[[table]]`...), which the studies crate reads with [`Section`].
//!
//! [`KEYS`] lists all keys of runs with their defaults and accepted values; [`template`] explains
//! them. A key that is not in the list is an error, and so is one that does not apply together with
//! the others (`momentum` with Adam): no setting is ignored silently. Errors name the key, its value,
//! what is expected, and the line and column or the override.
//!
//! An override is `section.key=value`, where the value is TOML or, where it is not valid TOML, text:
//! `training.epochs=20`, `model.name=mlp`, `delivery.methods=["soft", "sls"]`. Tables are
//! overridden key by key; the last override of a key applies.
//!
//! ```
//! use dissensus_train::Spec;
//! let text = "
//!     [data]
//!     dataset = 'cifar10h'
//!     [delivery]
//!     methods = 'soft'
//!     [training]
//!     batch = 64
//! ";
//! let error = Spec::parse(text, "mine.toml", &[]).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "unknown key `batch` in [training] (mine.toml, line 7, column 5); it is called `batch_size` now"
//! );
//! ```

mod data;
mod delivery;
mod draft;
mod keys;
mod model;
mod old;
mod read;
mod run;
mod section;
mod selection;
mod setting;
mod split;
mod template;
mod training;
mod write;

use std::collections::BTreeSet;

use dissensus_engine::Model;
use serde::Serialize;

pub use toml::Value;

pub use data::{Data, DataSource, EntropyBins, GivenSplit, Pair, Votes};
pub use delivery::DeliveryChoice;
pub use dissensus_engine::Precision;
pub use draft::Draft;
pub use keys::{KEYS, Key, SECTIONS, STUDY_SECTIONS, When, choices, paths_of};
pub use old::translate_stored;
pub use run::{Checkpoint, Execution, Run, seeds};
pub use section::{Entry, Node, Section, Text};
pub use selection::{SelectionChoice, selectable};
pub use setting::{Setting, overrides, settings};
pub use split::SplitChoice;
pub use training::Training;

use crate::{ConfigError, RunPlan, SplitPlan};

/// A checked training spec with all settings. Made by [`Spec::parse`] or [`Draft::check`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Spec {
    /// Votes and inputs.
    pub data: Data,
    /// How items are split.
    pub split: SplitChoice,
    /// The model.
    pub model: Model,
    /// How votes reach the loss.
    pub delivery: DeliveryChoice,
    /// How it is trained.
    pub training: Training,
    /// Which epoch is selected.
    pub selection: SelectionChoice,
    /// Seeds, and how runs are executed.
    pub run: Run,
    /// The keys that are stated, as in `training.epochs`; the others have their defaults.
    #[serde(skip)]
    pub stated: BTreeSet<String>,
}

/// A training spec with all keys explained. It is valid; a key in a comment has its default value, or
/// an example where it has no default.
pub fn template() -> &'static str {
    &template::TEMPLATE
}

impl Spec {
    /// Reads and checks a training spec. `name` is its name in errors; overrides are applied in order.
    pub fn parse(text: &str, name: &str, overrides: &[String]) -> Result<Self, ConfigError> {
        let mut draft = Draft::parse(text, name)?;
        for given in overrides {
            setting::overrides(given)?.iter().try_for_each(|setting| draft.set(setting))?;
        }
        draft.check()
    }

    /// The runs: for each method, in the order of the spec, each number of votes, and for each of
    /// these each seed. What the recipe of the data decides is open: see [`RunPlan::on`].
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
