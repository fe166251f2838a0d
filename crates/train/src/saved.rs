//! The state of training as named tensors, and back.
//!
//! Weights carry the names and layouts of PyTorch's state dicts. A checkpoint has them under
//! `model.`, what the optimizer remembers under `optimizer.SLOT.`, and the logits of the best epoch
//! so far under `best.PART`.

use std::collections::HashMap;

use dissensus_engine::network::Named;
use dissensus_engine::{Network, Optimizer, State, Weights};
use dissensus_store::Tensors;

use crate::{Part, TrainError};

/// Weights and batch statistics, by their plain names.
pub(crate) fn weights(
    network: &Network,
    weights: &Weights,
) -> Result<Tensors<'static>, TrainError> {
    let mut tensors = Tensors::new();
    add(&mut tensors, "", network.export(&weights.parameters))?;
    add(&mut tensors, "", network.export_statistics(&weights.statistics))?;
    Ok(tensors)
}

/// Everything that training changes, and the best logits so far by part.
pub(crate) fn state<'b>(
    network: &Network,
    optimizer: &Optimizer,
    state: &State<f32>,
    best: impl Iterator<Item = (&'b str, &'b Vec<f32>)>,
) -> Result<Tensors<'static>, TrainError> {
    let mut tensors = Tensors::new();
    add(&mut tensors, "model.", network.export(&state.parameters))?;
    add(&mut tensors, "model.", network.export_statistics(&state.statistics))?;
    for (slot, values) in optimizer.slots().iter().zip(&state.slots) {
        add(&mut tensors, &format!("optimizer.{slot}."), network.export(values))?;
    }
    for (part, logits) in best {
        tensors.push(format!("best.{part}"), [logits.len()], logits.clone())?;
    }
    Ok(tensors)
}

fn add(
    tensors: &mut Tensors<'static>,
    prefix: &str,
    named: Vec<Named<f32>>,
) -> Result<(), TrainError> {
    for Named { name, shape, values } in named {
        tensors.push(format!("{prefix}{name}"), shape, values)?;
    }
    Ok(())
}

/// Named tensors for finding.
pub struct Found(HashMap<String, (Vec<usize>, Vec<f32>)>);

impl Found {
    /// These tensors.
    pub fn new(tensors: Tensors<'static>) -> Self {
        let entry = |tensor: dissensus_store::Tensor<'static>| {
            let (name, shape) = (tensor.name().to_owned(), tensor.shape().to_vec());
            (name, (shape, tensor.into_values()))
        };
        Self(tensors.into_iter().map(entry).collect())
    }

    fn take(&mut self, name: &str) -> Option<(Vec<usize>, Vec<f32>)> {
        self.0.remove(name)
    }

    /// Weights and batch statistics under a prefix.
    pub fn weights(
        &mut self,
        network: &Network,
        prefix: &str,
    ) -> Result<(Vec<f32>, Vec<f32>), TrainError> {
        let parameters = network.import(|name| self.take(&format!("{prefix}{name}")))?;
        let statistics = network.import_statistics(|name| self.take(&format!("{prefix}{name}")))?;
        Ok((parameters, statistics))
    }

    /// The state that [`state`] wrote.
    pub(crate) fn state(
        &mut self,
        network: &Network,
        optimizer: &Optimizer,
        steps: u64,
    ) -> Result<State<f32>, TrainError> {
        let (parameters, statistics) = self.weights(network, "model.")?;
        let slot = |slot: &&str| {
            Ok(network.import(|name| self.take(&format!("optimizer.{slot}.{name}")))?)
        };
        let slots = optimizer.slots().iter().map(slot).collect::<Result<_, TrainError>>()?;
        Ok(State { parameters, statistics, slots, steps })
    }

    /// The logits of the best epoch, in the order of the parts.
    pub(crate) fn best(&mut self, parts: &[Part]) -> Result<Vec<Vec<f32>>, TrainError> {
        let logits = |part: &Part| {
            let (name, expected) = (&part.name, part.rows.len() * part.truth.classes());
            match self.take(&format!("best.{name}")) {
                Some((_, logits)) if logits.len() == expected => Ok(logits),
                found => Err(TrainError::Data(format!(
                    "the checkpoint has {} logits of the best epoch on {name}, expected \
                     {expected}; remove the run, and it starts anew",
                    found.map_or(0, |(_, logits)| logits.len())
                ))),
            }
        };
        parts.iter().map(logits).collect()
    }
}
