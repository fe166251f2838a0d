//! A trained model: its weights, what it comes to, and its predictions for new inputs.

use std::fmt;
use std::sync::Arc;

use dissensus_engine::{Device, Network, Weights};
use dissensus_inputs::{Inputs, Joined};
use dissensus_store::{Logits, Tensors, Which};

use crate::fitted::{FittedModel, runner_on, with_ids};
use crate::{EpochRow, RunResult, RunSpec, TrainError, saved};

/// A trained model.
pub struct Trained {
    /// What it was trained by: the plan, with the digests of the data.
    pub spec: RunSpec,
    /// How the votes and the inputs were matched, and what was left out.
    pub joined: Arc<Joined>,
    pub(crate) network: Arc<Network>,
    pub(crate) classes: Vec<String>,
    /// `None` where the run was continued and its saved weights are gone.
    pub(crate) best: Option<Weights>,
    pub(crate) last: Weights,
    /// What it comes to: all metrics of the selected and the last epoch, by part.
    pub result: RunResult,
    /// One row per epoch.
    pub history: Vec<EpochRow>,
    /// For the part that is reported, those of the selected and of the last epoch.
    pub(crate) predictions: [Logits<'static>; 2],
}

impl fmt::Debug for Trained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trained").field("result", &self.result).finish_non_exhaustive()
    }
}

impl Trained {
    /// The classes, in the order of the columns of predictions.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The weights by their names in a PyTorch state dict. Those of the selected epoch are missing where
    /// the run was continued and they can no longer be read.
    pub fn named_weights(&self, which: Which) -> Result<Tensors<'static>, TrainError> {
        saved::weights(&self.network, self.weights(which)?)
    }

    /// Logits for the part that is judged: the last of the split.
    pub fn predictions(&self, which: Which) -> &Logits<'static> {
        let [best, last] = &self.predictions;
        match which {
            Which::Best => best,
            Which::Last => last,
        }
    }

    /// Logits of the selected epoch for the part that is judged, which neither training nor, with three
    /// parts, the selection of the epoch has seen.
    pub fn test_predictions(&self) -> &Logits<'static> {
        self.predictions(Which::Best)
    }

    /// Logits of the selected epoch's model for new inputs. Images are normalized as the
    /// training images were; inputs without ids are numbered from 0.
    pub fn predict(
        &self,
        device: &dyn Device,
        inputs: &Inputs,
    ) -> Result<Logits<'static>, TrainError> {
        let weights = self.weights(Which::Best)?;
        let (network, precision) = (&self.network, self.spec.run.precision);
        let (mut runner, rows) =
            runner_on(network, weights, precision, &self.result, device, inputs)?;
        with_ids(runner.logits(&rows)?, inputs, &self.classes)
    }

    /// The model of the selected epoch, to keep.
    pub fn into_model(self) -> Result<FittedModel, TrainError> {
        let weights = self.weights(Which::Best)?.clone();
        let Self { spec, network, classes, result, history, .. } = self;
        Ok(FittedModel { spec, classes, result, history, network, weights })
    }

    fn weights(&self, which: Which) -> Result<&Weights, TrainError> {
        let gone = || TrainError::Data("the weights of the selected epoch are gone".to_owned());
        match which {
            Which::Best => self.best.as_ref().ok_or_else(gone),
            Which::Last => Ok(&self.last),
        }
    }
}
