//! A plan without a file: the defaults of a spec, and setters for what is most often changed. All
//! fields of a plan are public, so that anything else can be set, too.

use dissensus_engine::{Model, Optimizer};
use dissensus_labels::{Delivery, Target};

use super::RunPlan;
use crate::spec::{Spec, Votes};
use crate::{ConfigError, Stop, TrainError};

/// What a spec has to say at least; the dataset has no part in a plan.
const SPEC: &str = "data.dataset = 'any'\ndelivery.methods = 'soft'\nrun.seeds = [0]\n";

impl RunPlan {
    /// A plan with this delivery method, as a spec names it (`soft`, `sls:every=2`), and otherwise the
    /// defaults of a spec: all votes, 80 % of the items to train on and 20 % to evaluate on, a
    /// ResNet-18, 200 epochs of SGD in batches of 128 with a cosine schedule from 0.1, the epoch with
    /// the best soft NLL selected, seed 0.
    ///
    /// ```
    /// use dissensus_engine::Model;
    /// use dissensus_train::RunPlan;
    /// let plan = RunPlan::new("sls")?
    ///     .model(Model::named("mlp")?.with("hidden", 64_u64)?)
    ///     .votes_per_item(5)
    ///     .epochs(30)
    ///     .seed(1);
    /// assert_eq!(plan.label(), "sls · 5 votes · seed 1");
    /// # Ok::<(), dissensus_train::TrainError>(())
    /// ```
    pub fn new(method: &str) -> Result<Self, TrainError> {
        let delivery: Delivery = method.parse()?;
        Ok(Self { delivery, ..defaults(&[])? })
    }

    /// The network, such as `Model::named("mlp")?`.
    pub fn model(mut self, model: Model) -> Self {
        self.model = model;
        self
    }

    /// How many votes per item training sees, drawn with replacement by the run's seed.
    pub fn votes_per_item(mut self, per_item: u32) -> Self {
        self.votes = Votes::Drawn { per_item, replacement: true };
        self
    }

    /// What is estimated from the votes, and delivered.
    pub fn target(mut self, target: Target) -> Self {
        self.target = target;
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

    /// The number of items per step.
    pub fn batch_size(mut self, items: u64) -> Self {
        self.training.batch_size = items;
        self
    }

    /// The learning rate at the start.
    pub fn learning_rate(mut self, rate: f64) -> Self {
        self.training.learning_rate = rate;
        self
    }

    /// The optimizer; the learning rate stays as it is.
    pub fn optimizer(mut self, optimizer: Optimizer) -> Self {
        self.training.optimizer = optimizer;
        self
    }

    /// Adam with the defaults of a spec, and its learning rate of 0.001.
    pub fn adam(mut self) -> Result<Self, ConfigError> {
        let adam = defaults(&["training.optimizer=adam"])?.training;
        (self.training.optimizer, self.training.learning_rate) =
            (adam.optimizer, adam.learning_rate);
        Ok(self)
    }

    /// The metric that selects the best epoch.
    pub fn select_by(mut self, metric: &str) -> Self {
        metric.clone_into(&mut self.selection.metric);
        self
    }

    /// Stops after so many epochs in a row without improvement.
    pub fn stop_early(mut self, patience: u64) -> Self {
        self.selection.stop = Some(Stop { patience, minimum: 0.0 });
        self
    }

    /// The seed of everything random, the split included.
    pub fn seed(mut self, seed: u64) -> Self {
        (self.seed, self.split.seed) = (seed, seed);
        self
    }
}

fn defaults(overrides: &[&str]) -> Result<RunPlan, ConfigError> {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    Ok(Spec::parse(SPEC, "the defaults", &overrides)?.runs().remove(0))
}
