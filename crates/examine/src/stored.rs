//! A run's model as its store holds it, before it is on a device.
//!
//! [`StoredModel::read`] is the only reader of a run's weights: [`Model::open`](crate::Model::open)
//! puts them on a device together with the data that they were trained on, and
//! [`StoredModel::on_inputs`] together with any other inputs, for predictions.

mod expected;

use std::sync::Arc;

use dissensus_engine::{Dataset, Device, Runner, Weights};
use dissensus_inputs::Inputs;
use dissensus_store::{RunInfo, State as RunState, Which};
use dissensus_train::{Found, RunSpec};

use crate::model::{self, in_strides};
use crate::{ExamineError, ModelSettings, Observer};
use expected::ExpectedInputs;

/// The model of a finished run: its spec and its weights.
pub struct StoredModel {
    id: String,
    spec: RunSpec,
    weights: Found,
    /// The shape of the first weights.
    first: Vec<usize>,
}

impl StoredModel {
    /// Reads the weights of a finished run.
    pub fn read(info: &RunInfo, which: Which) -> Result<Self, ExamineError> {
        let id = info.id.to_string();
        if info.status.state != RunState::Finished {
            return Err(ExamineError::NotFinished { id });
        }
        let spec: RunSpec = serde_json::from_value(info.spec.clone())
            .map_err(|error| ExamineError::Spec { id: id.clone(), reason: error.to_string() })?;
        let Some(weights) = info.weights(which)? else {
            return Err(ExamineError::NoWeights { id, which: which.name() });
        };
        let first = weights.iter().next().map(|tensor| tensor.shape().to_vec()).unwrap_or_default();
        Ok(Self { id, spec, weights: Found::new(weights), first })
    }

    /// All that decided the run's result.
    pub fn spec(&self) -> &RunSpec {
        &self.spec
    }

    pub(crate) fn into_parts(self) -> (String, RunSpec, Found) {
        (self.id, self.spec, self.weights)
    }

    /// Puts the model on a device with other inputs than it was trained on. Images are normalized as
    /// the run's training images were.
    pub fn on_inputs(
        mut self,
        info: &RunInfo,
        which: Which,
        inputs: Inputs,
        device: &dyn Device,
        settings: &ModelSettings,
    ) -> Result<Predictor, ExamineError> {
        let id = self.id.clone();
        let Some((result, stored)) =
            info.result::<serde_json::Value>()?.zip(info.predictions(which)?)
        else {
            return Err(ExamineError::NotFinished { id });
        };
        // Results of older versions hold no names.
        let columns: Vec<String> = result
            .get("columns")
            .and_then(|columns| serde_json::from_value(columns.clone()).ok())
            .unwrap_or_default();
        let (inputs, note) = inputs.in_order_of(&columns)?;
        let takes = self.spec.run.model.entry().takes;
        let expected = ExpectedInputs::of(&id, takes, &self.first, &result)?;
        let dataset = expected.dataset(&id, inputs.into_owned())?;
        let classes = stored.classes().to_vec();
        let network = self.spec.run.network(dataset.shape(), classes.len())?;
        let (parameters, statistics) = self.weights.weights(&network, "")?;
        let network = Arc::new(network);
        let weights = Weights { parameters, statistics };
        let runner = model::runner(device, &network, &dataset, settings, &weights)?;
        let width = network.nodes()[network.features()].shape.len();
        Ok(Predictor { rows: rows_of(&dataset), classes, feature_width: width, runner, note })
    }
}

fn rows_of(dataset: &Dataset) -> Vec<u32> {
    (0..u32::try_from(dataset.len()).unwrap_or(u32::MAX)).collect()
}

/// A stored model on a device, with inputs to predict.
pub struct Predictor {
    rows: Vec<u32>,
    classes: Vec<String>,
    feature_width: usize,
    runner: Box<dyn Runner>,
    note: Option<String>,
}

impl Predictor {
    /// The names of the classes.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// How the columns of the inputs were matched with those of training, where a person should know it.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// How many features the last layer reads.
    pub fn feature_width(&self) -> usize {
        self.feature_width
    }

    /// The logits of all inputs, one row of classes each.
    pub fn logits(&mut self, observer: &Observer<'_>) -> Result<Vec<f32>, ExamineError> {
        in_strides(&self.rows, "logits", observer, |some| Ok(self.runner.logits(some)?))
    }

    /// What the last layer reads, one row per input.
    pub fn features(&mut self, observer: &Observer<'_>) -> Result<Vec<f32>, ExamineError> {
        in_strides(&self.rows, "features", observer, |some| Ok(self.runner.features(some)?))
    }
}
