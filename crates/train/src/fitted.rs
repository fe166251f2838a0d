//! A trained model to keep: the weights of the selected epoch with all that is needed to predict, in memory or
//! in one file.
//!
//! The file is a `.safetensors` file whose tensors have the names of a PyTorch state dict. Its metadata
//! holds the spec, the classes, the result and the history as JSON, and a checksum.

use std::path::Path;
use std::sync::Arc;

use dissensus_core::Ids;
use dissensus_engine::network::Shape;
use dissensus_engine::{Device, Network, Optimizer, Precision, Runner, Settings, State, Weights};
use dissensus_inputs::Inputs;
use dissensus_store::{Logits, StoreError, read_tensor_bytes, tensor_bytes, write_output_file};
use serde::{Deserialize, Serialize};

use crate::task::{describe_shape, engine_dataset};
use crate::{EpochRow, Found, RunResult, RunSpec, TrainError, saved};

/// A trained model that can be kept.
pub struct FittedModel {
    /// What it was trained by.
    pub spec: RunSpec,
    /// The classes, in the order of the columns of predictions.
    pub classes: Vec<String>,
    /// What it comes to: all metrics of the selected and the last epoch, by part.
    pub result: RunResult,
    /// One row per epoch.
    pub history: Vec<EpochRow>,
    pub(crate) network: Arc<Network>,
    pub(crate) weights: Weights,
}

/// What a file holds beside the weights.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    /// The version of these fields.
    model: u32,
    spec: RunSpec,
    classes: Vec<String>,
    result: RunResult,
    history: Vec<EpochRow>,
}

/// The version of the file.
const VERSION: u32 = 1;

impl FittedModel {
    /// Logits for new inputs. Images are normalized as the training images were; inputs without
    /// ids are numbered from 0.
    pub fn predict(
        &self,
        device: &dyn Device,
        inputs: &Inputs,
    ) -> Result<Logits<'static>, TrainError> {
        let (mut runner, rows) = self.runner(device, inputs)?;
        with_ids(runner.logits(&rows)?, inputs, &self.classes)
    }

    /// What the last layer reads, for new inputs: numbers per input, and the numbers row after row.
    pub fn features(
        &self,
        device: &dyn Device,
        inputs: &Inputs,
    ) -> Result<(usize, Vec<f32>), TrainError> {
        let (mut runner, rows) = self.runner(device, inputs)?;
        let width = self.network.nodes()[self.network.features()].shape.len();
        Ok((width, runner.features(&rows)?))
    }

    /// Writes the model into one file; one that exists is only replaced by `force`.
    pub fn write(&self, path: &Path, force: bool) -> Result<(), TrainError> {
        Ok(write_output_file(path, &self.to_bytes()?, force)?)
    }

    /// Reads a model that [`FittedModel::write`] wrote. A damaged file is refused.
    pub fn read(path: &Path) -> Result<Self, TrainError> {
        let bytes = std::fs::read(path).map_err(|source| {
            let (doing, path) = ("reading", path.to_owned());
            StoreError::Io { doing, path, source }
        })?;
        Self::from_bytes(path, &bytes)
    }

    /// The bytes of a model's file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, TrainError> {
        let note = Note {
            model: VERSION,
            spec: self.spec.clone(),
            classes: self.classes.clone(),
            result: self.result.clone(),
            history: self.history.clone(),
        };
        let note = serde_json::to_string(&note)
            .map_err(|error| TrainError::Data(format!("the model cannot be written: {error}")))?;
        Ok(tensor_bytes(&saved::weights(&self.network, &self.weights)?, &note))
    }

    /// A model from the bytes of its file; `path` is its name in messages.
    pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Self, TrainError> {
        let damaged = |reason: String| StoreError::Weights { path: path.to_owned(), reason };
        let (tensors, note) = read_tensor_bytes(bytes).map_err(damaged)?;
        let note: Note = serde_json::from_str(&note).map_err(|error| damaged(error.to_string()))?;
        let Note { model: VERSION, spec, classes, result, history } = note else {
            return Err(damaged(format!("it is a model of version {}", note.model)).into());
        };
        let shape = input_shape(&result)
            .ok_or_else(|| damaged("it does not say what the model takes".to_owned()))?;
        let network = Arc::new(spec.run.network(shape, classes.len())?);
        let (parameters, statistics) = Found::new(tensors).weights(&network, "")?;
        let weights = Weights { parameters, statistics };
        Ok(Self { spec, classes, result, history, network, weights })
    }

    fn runner(
        &self,
        device: &dyn Device,
        inputs: &Inputs,
    ) -> Result<(Box<dyn Runner>, Vec<u32>), TrainError> {
        let precision = self.spec.run.precision;
        runner_on(&self.network, &self.weights, precision, &self.result, device, inputs)
    }
}

/// Examples that are predicted at a time.
const BATCH: usize = 128;

/// Nothing is trained here, so nothing is remembered between steps.
const OPTIMIZER: Optimizer = Optimizer::Sgd { momentum: 0.0, nesterov: false, weight_decay: 0.0 };

/// The shape of the examples that a run was trained on.
fn input_shape(result: &RunResult) -> Option<Shape> {
    match result.input[..] {
        [width] => Some(Shape::Flat { width }),
        [height, width, channels] => Some(Shape::Map { height, width, channels }),
        _ => None,
    }
}

/// A network with these weights on a device, with inputs to predict, and the rows of these. Inputs have the shape of
/// those that it was trained on, and images are normalized as those were. A device that does not compute in the
/// precision of training predicts in f32.
pub(crate) fn runner_on(
    network: &Arc<Network>,
    weights: &Weights,
    precision: Precision,
    result: &RunResult,
    device: &dyn Device,
    inputs: &Inputs,
) -> Result<(Box<dyn Runner>, Vec<u32>), TrainError> {
    let (inputs, _) = inputs.in_order_of(&result.columns)?;
    let dataset = engine_dataset(&inputs, result.normalization.as_ref());
    let expected = input_shape(result).unwrap_or(network.input());
    if dataset.shape() != expected {
        let (found, expected) = (describe_shape(dataset.shape()), describe_shape(expected));
        let words = format!("{} has {found}; the model expects {expected}", inputs.name());
        return Err(TrainError::Data(words));
    }
    let Weights { parameters, statistics } = weights.clone();
    let state = State { parameters, statistics, slots: Vec::new(), steps: 0 };
    let rows: Vec<u32> = (0..u32::try_from(dataset.len()).unwrap_or(u32::MAX)).collect();
    let batch = BATCH.min(rows.len().max(1));
    let precision = if device.computes_in(precision) { precision } else { Precision::F32 };
    let settings = Settings { precision, batch, optimizer: OPTIMIZER, threads: 0 };
    Ok((device.runner(network, &dataset, &settings, state)?, rows))
}

/// Logits with the ids of the inputs, or numbers from 0.
pub(crate) fn with_ids(
    logits: Vec<f32>,
    inputs: &Inputs,
    classes: &[String],
) -> Result<Logits<'static>, TrainError> {
    let ids = inputs.ids().cloned().unwrap_or_else(|| Ids::positions(inputs.len()));
    let ids: Vec<String> = ids.iter().map(str::to_owned).collect();
    Ok(Logits::new(logits, ids, classes.to_vec()).map_err(StoreError::from)?)
}

#[cfg(test)]
mod tests {
    use dissensus_core::{ClassSet, Counts, VoteTable};
    use dissensus_engine::{Cpu, Model};
    use dissensus_inputs::{Features, Kind};

    use super::*;
    use crate::{FitOptions, RunPlan, Task, fit};

    #[test]
    fn a_model_reads_back_and_predicts_the_same_bits() {
        let mut counts = Counts::new();
        (0..20).for_each(|item| counts.push([(item % 2, 4), (1 - item % 2, 1)]).unwrap());
        let votes =
            VoteTable::from_counts(ClassSet::numbered(2).unwrap(), Ids::positions(20), counts)
                .unwrap();
        let values = (0..20).flat_map(|item| [(item % 2) as f32, 0.5]).collect();
        let kind = Kind::Features(Features::new("features", 2, values).unwrap());
        let inputs = Inputs::new("features", Some(votes.items().clone()), kind).unwrap();
        let (task, _) = Task::new("example", &votes, &inputs).unwrap();
        let model = Model::named("mlp").unwrap().with("hidden", 8_u64).unwrap();
        let plan = RunPlan::new("soft").unwrap().model(model).epochs(3);
        let trained = fit(&task, &plan, &Cpu, &FitOptions::default()).unwrap();
        let wanted = trained.predict(&Cpu, &inputs).unwrap();
        let model = trained.into_model().unwrap();

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.safetensors");
        model.write(&path, false).unwrap();
        assert!(model.write(&path, false).is_err());
        let back = FittedModel::read(&path).unwrap();
        assert_eq!(back.predict(&Cpu, &inputs).unwrap(), wanted);
        assert_eq!((&back.spec, &back.result), (&model.spec, &model.result));
        assert_eq!(back.history, model.history);
        let (width, features) = back.features(&Cpu, &inputs).unwrap();
        assert_eq!((width, features.len()), (8, 160));

        // A model that was trained on a GPU in less predicts in f32 on a CPU.
        let mut half = FittedModel::read(&path).unwrap();
        half.spec.run.precision = Precision::Bf16;
        assert_eq!(half.predict(&Cpu, &inputs).unwrap(), wanted);

        let mut bytes = std::fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(&path, bytes).unwrap();
        let error = FittedModel::read(&path).err().unwrap();
        assert!(error.to_string().contains("checksum"), "{error}");
    }
}
