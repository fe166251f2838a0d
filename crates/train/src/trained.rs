//! A trained model: its weights, what it comes to, and its predictions for new inputs.

use std::fmt;
use std::sync::Arc;

use dissensus_core::Ids;
use dissensus_engine::{Device, Network, Settings, State, Weights};
use dissensus_inputs::Inputs;
use dissensus_store::{Logits, StoreError, Tensors, Which};

use crate::task::engine_dataset;
use crate::{EpochRow, RunPlan, RunResult, TrainError, saved};

/// A trained model.
pub struct Trained {
    pub(crate) plan: RunPlan,
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
    pub(crate) predictions: Option<[Logits<'static>; 2]>,
}

impl fmt::Debug for Trained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trained").field("result", &self.result).finish_non_exhaustive()
    }
}

/// Examples that are predicted at a time.
const BATCH: usize = 128;

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

    /// Logits for the part that is reported: the last of the split.
    pub fn predictions(&self, which: Which) -> Option<&Logits<'static>> {
        self.predictions.as_ref().map(|[best, last]| match which {
            Which::Best => best,
            Which::Last => last,
        })
    }

    /// Logits of the selected epoch's model for new inputs. Images are normalized as the
    /// training images were; inputs without ids are numbered from 0.
    pub fn predict(
        &self,
        device: &dyn Device,
        inputs: &Inputs,
    ) -> Result<Logits<'static>, TrainError> {
        let dataset = engine_dataset(inputs, self.result.normalization.as_ref());
        let expected = self.network.input();
        if dataset.shape() != expected {
            return Err(TrainError::Data(format!(
                "{} has examples of {:?}; the model expects {expected:?}",
                inputs.name(),
                dataset.shape()
            )));
        }
        let Weights { parameters, statistics } = self.weights(Which::Best)?.clone();
        let optimizer = self.plan.training.optimizer;
        let slots = optimizer.slots().iter().map(|_| vec![0.0; parameters.len()]).collect();
        let state = State { parameters, statistics, slots, steps: 0 };
        let rows: Vec<u32> = (0..u32::try_from(dataset.len()).unwrap_or(u32::MAX)).collect();
        let (precision, batch) = (self.plan.precision, BATCH.min(rows.len().max(1)));
        let settings = Settings { precision, batch, optimizer, threads: 0 };
        let mut runner = device.runner(&self.network, &dataset, &settings, state)?;
        let ids = inputs.ids().cloned().unwrap_or_else(|| Ids::positions(inputs.len()));
        let ids: Vec<String> = ids.iter().map(str::to_owned).collect();
        let logits = runner.logits(&rows)?;
        Ok(Logits::new(logits, ids, self.classes.clone()).map_err(StoreError::from)?)
    }

    fn weights(&self, which: Which) -> Result<&Weights, TrainError> {
        let gone = || TrainError::Data("the weights of the selected epoch are gone".to_owned());
        match which {
            Which::Best => self.best.as_ref().ok_or_else(gone),
            Which::Last => Ok(&self.last),
        }
    }
}
