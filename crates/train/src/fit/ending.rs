//! Checkpoints of the loop, and what a finished run comes to.

use std::sync::Arc;

use dissensus_engine::network::Shape;
use dissensus_engine::{Dataset, State, Weights};
use dissensus_store::{Checkpoint, Logits, StoreError};

use super::{Evaluated, Fit};
use crate::saved::{self, Found};
use crate::scores::scores;
use crate::{Normalization, Part, PartResult, RunResult, TrainError, Trained};

impl Fit<'_> {
    /// Saves a checkpoint, where one is due; for certain where training `ends`.
    pub(super) fn checkpoint(&mut self, ends: bool) -> Result<(), TrainError> {
        if !self.saver.as_mut().is_some_and(|saver| saver.is_due(ends)) {
            return Ok(());
        }
        let setup = self.setup;
        let kept = if self.best_is_new { self.runner.kept()? } else { None };
        let best = match (kept, self.best.last(), setup.parts.last()) {
            (Some(kept), Some(logits), Some(part)) => {
                let weights = saved::weights(&setup.network, &kept)?;
                Some((weights, self.predictions(part, logits.clone())?))
            }
            _ => None,
        };
        let state = self.runner.state()?;
        self.position.steps = state.steps;
        let optimizer = &self.plan.training.optimizer;
        let logits = setup.parts.iter().map(|part| &*part.name).zip(&self.best);
        let tensors = saved::state(&setup.network, optimizer, &state, logits)?;
        let json = |error| TrainError::Data(format!("the position: {error}"));
        let position = serde_json::to_value(&self.position).map_err(json)?;
        let rows = self.history.iter().map(serde_json::to_value);
        let history = rows.collect::<Result<Vec<_>, _>>().map_err(json)?;
        let epoch = history.len() as u64;
        let checkpoint = Checkpoint { epoch, tensors, state: position, history };
        self.best_is_new &= best.is_none();
        self.saver.as_mut().map_or(Ok(()), |saver| saver.save(best, &checkpoint))
    }

    fn predictions(&self, part: &Part, logits: Vec<f32>) -> Result<Logits<'static>, TrainError> {
        let table = self.task.table();
        let id = |&row: &u32| table.items().name(row as usize).to_owned();
        let ids: Vec<String> = part.rows.iter().map(id).collect();
        let classes = table.classes().names().to_vec();
        Ok(Logits::new(logits, ids, classes).map_err(StoreError::from)?)
    }

    /// The weights of the selected epoch: this process trained it, or they were saved. Where they are not as
    /// they were saved, the run must be trained again.
    fn best_weights(&mut self) -> Result<Option<Weights>, TrainError> {
        if let Some(kept) = self.runner.kept()? {
            return Ok(Some(kept));
        }
        let Some(saver) = &self.saver else { return Ok(None) };
        let mut saved = Found::new(saver.run.best_weights()?);
        let lost = |_| StoreError::BestLost { id: saver.run.id().clone() };
        let (parameters, statistics) = saved.weights(&self.setup.network, "").map_err(lost)?;
        Ok(Some(Weights { parameters, statistics }))
    }

    /// Evaluates the selected and the last epoch on every part.
    pub(super) fn finish(mut self) -> Result<Trained, TrainError> {
        let setup = self.setup;
        let choice = &self.plan.selection;
        let epochs = self.history.len() as u64;
        let Some(best) = self.position.selection.best() else {
            return Err(TrainError::Failed {
                reason: format!(
                    "{} on {} was undefined after each of {epochs} epochs, so none could be \
                     selected; set selection.metric to another metric, such as soft_nll",
                    choice.metric, choice.on
                ),
            });
        };
        let best_weights = self.best_weights()?;
        self.checkpoint(true)?;
        let State { parameters, statistics, .. } = self.runner.state()?;
        let (mut parts, mut predictions) = (Vec::new(), None);
        for (part, best) in setup.parts.iter().zip(std::mem::take(&mut self.best)) {
            let last = self.logits(part, epochs.saturating_sub(1), Evaluated::Now)?;
            let result = PartResult {
                items: part.rows.len(),
                best: scores(&part.truth, &best)?,
                last: scores(&part.truth, &last)?,
            };
            parts.push((part.name.clone(), result));
            predictions = Some([self.predictions(part, best)?, self.predictions(part, last)?]);
        }
        let predictions =
            predictions.ok_or_else(|| TrainError::Data("the split has no part to judge".into()))?;
        let result = RunResult {
            arm: self.plan.arm(),
            seed: self.plan.seed,
            epochs,
            stopped_early: self.position.stopped,
            best_epoch: best.epoch,
            selected_by: format!("{} on {}", choice.metric, choice.on),
            train_items: setup.train.len(),
            parameters: setup.network.parameter_count(),
            seconds: self.position.seconds,
            input: match setup.dataset.shape() {
                Shape::Map { height, width, channels } => vec![height, width, channels],
                Shape::Flat { width } => vec![width],
            },
            normalization: normalization(&setup.dataset),
            columns: self.task.inputs().columns().unwrap_or_default().to_vec(),
            parts,
        };
        let trained = Trained {
            spec: self.plan.with_data(self.task.identity().clone()),
            joined: Arc::clone(self.task.joined()),
            network: setup.network.clone(),
            classes: self.task.table().classes().names().to_vec(),
            best: best_weights,
            last: Weights { parameters, statistics },
            history: self.history,
            result,
            predictions,
        };
        self.saver.map_or(Ok(()), |saver| saver.finish(&trained))?;
        Ok(trained)
    }
}

/// What images are normalized by; a prediction for new ones needs it.
fn normalization(dataset: &Dataset) -> Option<Normalization> {
    match dataset {
        Dataset::Images { mean, deviation, .. } => {
            Some(Normalization { mean: mean.clone(), deviation: deviation.clone() })
        }
        Dataset::Vectors { .. } => None,
    }
}
