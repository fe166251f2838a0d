//! What the loop leaves in the store: checkpoints, the best and the last epoch, curves, figures.

use dissensus_engine::network::Shape;
use dissensus_engine::{Dataset, Weights};
use dissensus_store::{ActiveRun, Checkpoint, Predictions};
use serde_json::{Map, Value, json};

use super::{End, Training};
use crate::scores::scores;
use crate::{Part, TrainError, saved};

impl Training<'_> {
    /// Writes down where the run stands: the best epoch first, so that a kill in between leaves
    /// the older position, from which the same best epoch is found again.
    pub(super) fn save(&mut self, run: &mut ActiveRun) -> Result<(), TrainError> {
        let setup = self.setup;
        self.save_best(run)?;
        let state = self.runner.state()?;
        self.position.steps = state.steps;
        let optimizer = &self.spec.run.training.optimizer;
        let best = setup.parts.iter().map(|part| &*part.name).zip(&self.best);
        let tensors = saved::state(&setup.network, optimizer, &state, best)?;
        let position = serde_json::to_value(&self.position)
            .map_err(|error| TrainError::Data(format!("the position: {error}")))?;
        let history = std::mem::take(&mut self.history);
        let checkpoint =
            Checkpoint { epoch: history.len() as u64, tensors, state: position, history };
        let result = run.save_checkpoint(&checkpoint);
        self.history = checkpoint.history;
        if let Some(events) = &mut self.events {
            events.flush()?;
        }
        Ok(result?)
    }

    fn save_best(&mut self, run: &ActiveRun) -> Result<(), TrainError> {
        let setup = self.setup;
        if !self.unsaved {
            return Ok(());
        }
        if let (Some(Weights { parameters, statistics }), Some(part), Some(logits)) =
            (self.runner.kept()?, setup.parts.last(), self.best.last())
        {
            let weights = saved::weights(&setup.network, &parameters, &statistics)?;
            run.save_best(&weights, &self.predictions(part, logits)?)?;
            self.unsaved = false;
        }
        Ok(())
    }

    fn predictions<'l>(
        &self,
        part: &Part,
        logits: &'l [f32],
    ) -> Result<Predictions<'l>, TrainError> {
        let table = self.task.table();
        let id = |&row: &u32| table.items().name(row as usize).to_owned();
        let ids: Vec<String> = part.rows.iter().map(id).collect();
        Ok(Predictions::new(logits, ids, table.classes().names().to_vec())?)
    }

    /// Writes the last epoch and the figures of both.
    pub(super) fn finish(&mut self, run: &mut ActiveRun) -> Result<End, TrainError> {
        let setup = self.setup;
        let choice = &self.spec.run.selection;
        let epochs = self.history.len() as u64;
        let Some(best) = self.position.selection.best() else {
            return Ok(End::Failed(format!(
                "{} on {} was undefined after each of {epochs} epochs, so none could be \
                 selected; set selection.metric to another metric, such as soft_nll",
                choice.metric, choice.on
            )));
        };
        self.save(run)?;
        let state = self.runner.state()?;
        let weights = saved::weights(&setup.network, &state.parameters, &state.statistics)?;
        let mut parts = Map::new();
        for (place, part) in setup.parts.iter().enumerate() {
            let last = match self.logits(part, epochs.saturating_sub(1))? {
                Ok(last) => last,
                Err(reason) => return Ok(End::Failed(reason)),
            };
            let figures = json!({
                "items": part.rows.len(),
                "best": scores(&part.truth, self.best.get(place).map_or(&[][..], |best| best))?,
                "last": scores(&part.truth, &last)?,
            });
            parts.insert(part.name.clone(), figures);
            if place + 1 == setup.parts.len() {
                run.save_last(&weights, &self.predictions(part, &last)?)?;
            }
        }
        Ok(End::Finished(json!({
            "arm": self.spec.arm(),
            "seed": self.spec.run.seed,
            "epochs": epochs,
            "stopped_early": self.position.stopped,
            "best_epoch": best.epoch,
            "selected_by": format!("{} on {}", choice.metric, choice.on),
            "train_items": setup.train.len(),
            "parameters": setup.network.parameter_count(),
            "seconds": self.position.seconds,
            "input": match setup.dataset.shape() {
                Shape::Map { height, width, channels } => vec![height, width, channels],
                Shape::Flat { width } => vec![width],
            },
            "normalization": normalization(&setup.dataset),
            "parts": parts,
        })))
    }

    /// The epochs before an interruption as curves: a new file of events begins with them.
    pub(super) fn chart_history(&mut self) -> Result<(), TrainError> {
        let history = std::mem::take(&mut self.history);
        let result = history.iter().try_for_each(|row| self.chart(row));
        self.history = history;
        result
    }

    /// A row of the history as curves.
    pub(super) fn chart(&mut self, row: &Value) -> Result<(), TrainError> {
        let (Some(events), Value::Object(row)) = (&mut self.events, row) else {
            return Ok(());
        };
        let step = row.get("epoch").and_then(Value::as_u64).unwrap_or(0);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let now = now.map_or(0.0, |now| now.as_secs_f64());
        for (name, value) in row.iter().filter(|(name, _)| *name != "epoch") {
            if let Some(value) = value.as_f64() {
                events.scalar(&name.replace('.', "/"), step, now, value as f32)?;
            }
        }
        Ok(())
    }
}

/// What pictures are normalized by; a prediction for new ones needs it.
fn normalization(dataset: &Dataset) -> Value {
    match dataset {
        Dataset::Images { mean, deviation, .. } => {
            json!({ "mean": mean, "deviation": deviation })
        }
        Dataset::Vectors { .. } => Value::Null,
    }
}
