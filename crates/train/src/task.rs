//! What runs are trained on: the votes and the inputs of the same items, sorted by id.
//!
//! The digests that name a run know no order of rows, and so nothing of a run may depend on it: not
//! the predictions, and not the last bit of a mean over items.

use std::sync::Arc;

use dissensus_core::VoteTable;
use dissensus_engine::Dataset;
use dissensus_engine::network::Shape;
use dissensus_inputs::{Inputs, Joined, Kind, join};
use dissensus_labels::example_key;
use dissensus_measure::{Matrix, Targets, Truth};

use crate::{DataIdentity, TrainError};

/// Votes and inputs of the same items, sorted by id.
pub struct Task {
    name: String,
    table: VoteTable,
    inputs: Inputs,
    keys: Vec<u64>,
    truth: Arc<Truth>,
    identity: DataIdentity,
    dataset: Dataset,
}

impl Task {
    /// Matches votes with inputs. Items without votes or without an input are left out; `Joined`
    /// says how many.
    pub fn new(
        name: &str,
        table: &VoteTable,
        inputs: &Inputs,
    ) -> Result<(Self, Joined), TrainError> {
        let joined = join(table, inputs)?;
        let voted = table.distributions();
        let mut kept: Vec<(usize, usize)> =
            joined.items.iter().copied().filter(|&(item, _)| voted[item].is_some()).collect();
        kept.sort_unstable_by_key(|&(item, _)| table.items().name(item));
        let (items, rows): (Vec<usize>, Vec<usize>) = kept.into_iter().unzip();
        if items.is_empty() {
            return Err(TrainError::Data("no item has both votes and an input".into()));
        }
        let (table, inputs) = (table.select(&items), inputs.select(&rows));
        let classes = table.classes().len();
        let shares: Vec<f64> = items
            .iter()
            .filter_map(|&item| voted[item].as_ref())
            .flat_map(|d| d.values())
            .copied()
            .collect();
        let truth = Truth::new(Targets::Probabilities(Matrix::new(&shares[..], classes)?))?;
        let identity = DataIdentity {
            name: name.to_owned(),
            votes_digest: table.digest().to_string(),
            inputs_digest: inputs.digest().to_string(),
            items: items.len() as u64,
        };
        let dataset = match inputs.kind() {
            Kind::Images(images) => {
                let channels = images.channels();
                Dataset::Pictures {
                    height: images.height(),
                    width: images.width(),
                    channels,
                    pixels: images.pixels().into(),
                    mean: vec![0.0; channels],
                    deviation: vec![1.0; channels],
                }
            }
            Kind::Features(features) => {
                Dataset::Vectors { width: features.width(), values: features.values().into() }
            }
        };
        let keys = table.items().iter().map(example_key).collect();
        let truth = Arc::new(truth);
        let name = name.to_owned();
        Ok((Self { name, table, inputs, keys, truth, identity, dataset }, joined))
    }

    /// A short name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The votes of the items.
    pub fn table(&self) -> &VoteTable {
        &self.table
    }

    /// The inputs of the items, in the order of the votes.
    pub fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// What the items are known by to everything random.
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// What people said of every item.
    pub fn truth(&self) -> &Arc<Truth> {
        &self.truth
    }

    /// The shape of an example.
    pub fn shape(&self) -> Shape {
        self.dataset.shape()
    }

    /// What the data are, by content.
    pub fn identity(&self) -> &DataIdentity {
        &self.identity
    }

    /// The data as the engine takes them, pictures normalized by those at `places`: every channel
    /// to mean 0 and deviation 1 over them.
    pub fn dataset(&self, places: &[usize]) -> Dataset {
        let mut dataset = self.dataset.clone();
        if let (Dataset::Pictures { mean, deviation, .. }, Kind::Images(images)) =
            (&mut dataset, self.inputs.kind())
            && let Some(found) = images.normalization(Some(places))
        {
            mean.copy_from_slice(&found.mean);
            // A channel that never changes is only moved.
            let positive = |&sd: &f32| if sd > 0.0 { sd } else { 1.0 };
            *deviation = found.sd.iter().map(positive).collect();
        }
        dataset
    }
}
