//! A run as what it is: everything that decides its result, written out, and nothing else.
//!
//! A [`RunPlan`] is a run of a [`Spec`](crate::Spec), and a [`RunSpec`] a plan together with the
//! data it is run on. A store names runs by a hash of the latter, so every field is always
//! written, defaults too: where a default changes, so does the name. (A field that came later is
//! written only where it says something, so that older runs keep theirs.) What only says how a run is
//! run (device, jobs, threads, store, checkpoints) is not in it.

use std::borrow::Cow;
use std::fmt;

use dissensus_core::VoteTable;
use dissensus_engine::network::Shape;
use dissensus_engine::{EngineError, Model, Network};
use dissensus_labels::{Delivery, LabelError, Params, Source, Target, sparse};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::spec::{Draft, Precision, SelectionChoice, Setting, Training, Votes, overrides};
use crate::{ConfigError, Place, TrainError};

/// The version of [`RunSpec`]'s fields and of what they mean.
pub const FORMAT: u32 = 1;

/// How the items of a run are split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SplitPlan {
    /// The parts, training first.
    pub parts: Vec<String>,
    /// Each part's share; none for the last where another data set is judged on, and none at all where
    /// the split comes with the data.
    pub shares: Vec<f64>,
    /// Whether every class is split alike.
    pub stratify: bool,
    /// What the split is drawn by.
    pub seed: u64,
}

/// A run of a spec, without its data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunPlan {
    /// How many votes per item training sees, drawn by `seed`.
    pub votes: Votes,
    /// How items are split.
    pub split: SplitPlan,
    /// What is trained.
    pub model: Model,
    /// How the target reaches the loss.
    pub delivery: Delivery,
    /// What training goes towards.
    pub target: Target,
    /// How it is trained.
    pub training: Training,
    /// Which epoch is kept.
    pub selection: SelectionChoice,
    /// The seed of everything random in the run.
    pub seed: u64,
    /// The numbers that are computed with.
    pub precision: Precision,
}

/// What a run is trained and judged on, by content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataIdentity {
    /// A short name.
    pub name: String,
    /// The digest of the votes that are used, before any are drawn.
    pub votes_digest: String,
    /// The digest of the inputs that are used.
    pub inputs_digest: String,
    /// How many items are used.
    pub items: u64,
    /// The digest of the split that comes with the data; not written where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split_digest: Option<String>,
    /// What it is judged on, where that is another data set; not written where it is not, so that
    /// runs without one keep their names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged_on: Option<Box<DataIdentity>>,
}

impl DataIdentity {
    /// Whether both hold the same votes and inputs, whatever they are called.
    pub fn same_content(&self, other: &Self) -> bool {
        (&self.votes_digest, &self.inputs_digest) == (&other.votes_digest, &other.inputs_digest)
            && self.split_digest == other.split_digest
            && match (&self.judged_on, &other.judged_on) {
                (None, None) => true,
                (Some(mine), Some(theirs)) => mine.same_content(theirs),
                _ => false,
            }
    }
}

/// The version of a run's fields; only the one that this program knows can be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct Format;

impl From<Format> for u32 {
    fn from(_: Format) -> Self {
        FORMAT
    }
}

impl TryFrom<u32> for Format {
    type Error = String;

    fn try_from(found: u32) -> Result<Self, String> {
        let other = || {
            format!(
                "a run of format {found}; expected format {FORMAT}: use the version of the \
                 program that wrote it"
            )
        };
        if found == FORMAT { Ok(Self) } else { Err(other()) }
    }
}

/// A run: all that decides its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSpec {
    /// The version of these fields.
    pub format: Format,
    /// What it is run on.
    pub data: DataIdentity,
    /// The rest.
    pub run: RunPlan,
}

impl RunPlan {
    /// A plan with this delivery method, as a spec names it (`soft`, `sls:every=2`), and otherwise the
    /// defaults of a spec: all votes, 80 % of the items to train on and 20 % to evaluate on, a
    /// ResNet-18, 200 epochs of SGD in batches of 128 with a cosine schedule from 0.1, images augmented as
    /// the recipe of the data says, the epoch with the best soft NLL selected, seed 0. The other fields can be
    /// set as any others.
    ///
    /// ```
    /// use dissensus_engine::Model;
    /// use dissensus_train::RunPlan;
    /// let mut plan = RunPlan::new("sls")?.model(Model::named("mlp")?).epochs(30).seed(1);
    /// plan.training.learning_rate = 0.01;
    /// assert_eq!(plan.label(), "sls · all votes · seed 1");
    /// # Ok::<(), dissensus_train::TrainError>(())
    /// ```
    pub fn new(method: &str) -> Result<Self, TrainError> {
        Self::of_draft(method, &Draft::empty("the defaults"))
    }

    /// The only run of a draft with this method.
    fn of_draft(method: &str, draft: &Draft) -> Result<Self, TrainError> {
        let mut runs = draft.check_without_data(&method.parse()?)?.runs();
        match (runs.pop(), runs.len()) {
            (Some(run), 0) => Ok(run),
            (_, more) => {
                let words = format!("the settings make {} runs; expected one", more + 1);
                Err(TrainError::Data(words))
            }
        }
    }

    /// A plan with these settings of a spec, as `section.key=value` (see [`crate::spec`]), and otherwise the
    /// defaults of [`RunPlan::new`]. Settings that are no part of a plan (the data, the store) are
    /// refused, and so are lists that make several runs.
    ///
    /// ```
    /// use dissensus_train::RunPlan;
    /// let settings = ["model.name=mlp", "training.epochs=30", "run.seeds=[1]"].map(str::to_owned);
    /// let plan = RunPlan::of_settings("sls", &settings)?;
    /// assert_eq!((plan.training.epochs, plan.label()), (30, "sls · all votes · seed 1".to_owned()));
    /// assert!(RunPlan::of_settings("sls", &["run.store=here".to_owned()]).is_err());
    /// # Ok::<(), dissensus_train::TrainError>(())
    /// ```
    pub fn of_settings(method: &str, settings: &[String]) -> Result<Self, TrainError> {
        let settings: Result<Vec<_>, _> = settings.iter().map(|given| overrides(given)).collect();
        Self::with_settings(method, &settings?.concat())
    }

    /// As [`RunPlan::of_settings`], with settings as values.
    pub fn with_settings(method: &str, settings: &[Setting]) -> Result<Self, TrainError> {
        const OF_A_PLAN: [&str; 4] =
            ["data.votes_per_item", "data.replacement", "run.seeds", "run.precision"];
        let mut draft = Draft::empty("the settings");
        for setting in settings {
            let Setting { path, place, .. } = setting;
            let elsewhere = ["data.", "run.", "delivery.methods"];
            let elsewhere = elsewhere.iter().any(|section| path.starts_with(section));
            if elsewhere && !OF_A_PLAN.contains(&path.as_str()) {
                let why = "is no setting of a model that is trained in memory; remove it";
                let (key, place, why) = (place.key(path), place.clone(), why.to_owned());
                return Err(ConfigError::Conflict { key, place, why }.into());
            }
            draft.set(setting)?;
        }
        Self::of_draft(method, &draft)
    }

    /// The network, such as `Model::named("mlp")?`, with the default optimizer and learning rate for it.
    pub fn model(mut self, model: Model) -> Self {
        let name = Setting::of("model.name", model.entry().name, &Place::Call);
        if let Ok(defaults) = Self::with_settings("soft", &name) {
            self.training.optimizer = defaults.training.optimizer;
            self.training.learning_rate = defaults.training.learning_rate;
        }
        self.model = model;
        self
    }

    /// The parts of the split with their shares, training first. The part after it selects the best
    /// epoch, and the last one is reported.
    pub fn split(mut self, parts: &[(&str, f64)]) -> Self {
        self.split.parts = parts.iter().map(|(name, _)| (*name).to_owned()).collect();
        self.split.shares = parts.iter().map(|(_, share)| *share).collect();
        self.selection.on = self.split.parts.get(1).cloned().unwrap_or_default();
        self
    }

    /// The number of epochs.
    pub fn epochs(mut self, epochs: u64) -> Self {
        self.training.epochs = epochs;
        self
    }

    /// The seed of everything random, the split included.
    pub fn seed(mut self, seed: u64) -> Self {
        (self.seed, self.split.seed) = (seed, seed);
        self
    }

    /// The run of this plan on these data. What the plan leaves to their recipe must have been filled in
    /// ([`RunPlan::on`]); images are not augmented otherwise.
    pub fn with_data(&self, data: DataIdentity) -> RunSpec {
        let mut run = self.clone();
        run.training.augment.get_or_insert_default();
        RunSpec { format: Format, data, run }
    }

    /// The network for examples of this shape and this many classes, with a head for the loss.
    pub fn network(&self, input: Shape, classes: usize) -> Result<Network, EngineError> {
        Ok(self.model.network(input, classes)?.with_loss(self.training.loss))
    }

    /// The votes of these items that training sees, drawn by the seed, as the target estimates them.
    pub fn estimated<'t>(&self, table: &'t VoteTable) -> Result<Cow<'t, VoteTable>, LabelError> {
        let Votes::Drawn { per_item, replacement } = self.votes else {
            return Ok(self.target.estimate(table)?.targets);
        };
        let source = Source::new(table)?;
        let drawn = match replacement {
            true => sparse::with_replacement(&source, per_item, self.seed)?,
            false => sparse::without_replacement(&source, per_item, self.seed)?,
        };
        Ok(Cow::Owned(self.target.estimate(&drawn)?.targets.into_owned()))
    }

    /// The name of the arm in a table, all runs of which differ in their seeds only:
    /// `sls · 5 votes`.
    pub fn arm(&self) -> String {
        format!("{} · {}", short(&self.delivery), self.votes)
    }

    /// The name of the run for people: `sls · 5 votes · seed 2`.
    pub fn label(&self) -> String {
        format!("{} · seed {}", self.arm(), self.seed)
    }
}

impl RunSpec {
    /// [`RunPlan::arm`].
    pub fn arm(&self) -> String {
        self.run.arm()
    }

    /// [`RunPlan::label`].
    pub fn label(&self) -> String {
        self.run.label()
    }

    /// The run as JSON, its fields in the order of the types; what is hashed and stored.
    pub fn to_value(&self) -> Value {
        // Every key is text and every number finite, so there is nothing that JSON cannot hold.
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// A delivery with those settings alone that are not the defaults.
fn short(delivery: &Delivery) -> String {
    let text = delivery.to_string();
    let Ok(mut params) = text.parse::<Params>() else { return text };
    let settings = delivery.entry().settings;
    params.settings.retain(|(name, value)| {
        !settings.iter().any(|setting| setting.name == name && setting.default == value)
    });
    params.to_string()
}

impl fmt::Display for Votes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Drawn { per_item, replacement } = self else { return f.write_str("all votes") };
        write!(f, "{per_item} vote{}", if *per_item == 1 { "" } else { "s" })?;
        if *replacement { Ok(()) } else { f.write_str(" without replacement") }
    }
}
