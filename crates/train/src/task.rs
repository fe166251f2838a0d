//! What runs are trained on: the votes and the inputs of the same items, sorted by id.
//!
//! The digests that name a run know no order of rows, and so nothing of a run may depend on it: not
//! the predictions, and not the last bit of a mean over items.
//!
//! Where another data set is judged on ([`Task::judged_on`]), its items come after the others.

mod judged;

use std::ops::Range;
use std::sync::Arc;

use dissensus_core::{Scale, VoteTable};
use dissensus_engine::Dataset;
use dissensus_engine::network::Shape;
use dissensus_inputs::{Inputs, Joined, Kind, join};
use dissensus_labels::example_key;
use dissensus_measure::Truth;

use crate::{DataIdentity, GivenParts, Normalization, PartPlaces, SplitError, TrainError};

pub use judged::{BothJoined, Voted};

/// Votes and inputs of the same items, sorted by id.
pub struct Task {
    table: VoteTable,
    inputs: Inputs,
    keys: Vec<u64>,
    truth: Arc<Truth>,
    identity: DataIdentity,
    dataset: Dataset,
    /// How many items come before those of another data set that is judged on; all where none is.
    own: usize,
    /// The places of each part, where the split comes with the data.
    split: Option<PartPlaces>,
    /// How the votes and the inputs of the items that are split were matched.
    joined: Arc<Joined>,
}

impl Task {
    /// Matches votes with inputs. Items without votes or without an input are left out; `Joined`
    /// says how many.
    pub fn new(
        name: &str,
        table: &VoteTable,
        inputs: &Inputs,
    ) -> Result<(Self, Joined), TrainError> {
        let (table, inputs, joined) = matched(table, inputs)?;
        let identity = identity(name, &table, &inputs);
        let own = table.len();
        Ok((Self::of(table, inputs, identity, own, &joined)?, joined))
    }

    /// Of votes and inputs in the same order, the first `own` of which are split.
    fn of(
        table: VoteTable,
        inputs: Inputs,
        identity: DataIdentity,
        own: usize,
        joined: &Joined,
    ) -> Result<Self, TrainError> {
        let truth = Truth::from_table(&table, &(0..table.len()).collect::<Vec<_>>())?;
        let dataset = engine_dataset(&inputs, None);
        let keys = table.items().iter().map(example_key).collect();
        let (truth, joined) = (Arc::new(truth), Arc::new(joined.clone()));
        Ok(Self { table, inputs, keys, truth, identity, dataset, own, split: None, joined })
    }

    /// The same items with the split that comes with them.
    pub fn with_split(mut self, split: &GivenParts) -> Result<Self, SplitError> {
        let (parts, digest) = split.places(self.table.items())?;
        (self.split, self.identity.split_digest) = (Some(parts), Some(digest));
        Ok(self)
    }

    /// The places of each part, training first, where the split comes with the data.
    pub fn split(&self) -> Option<&[(String, Vec<usize>)]> {
        self.split.as_deref()
    }

    /// The votes of the items.
    pub fn table(&self) -> &VoteTable {
        &self.table
    }

    /// The inputs of the items, in the order of the votes.
    pub fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// The keys of the items; everything random is a function of them.
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// The votes on every item, as distributions.
    pub fn truth(&self) -> &Arc<Truth> {
        &self.truth
    }

    /// The shape of an example.
    pub fn shape(&self) -> Shape {
        self.dataset.shape()
    }

    /// The name and the digests of the data.
    pub fn identity(&self) -> &DataIdentity {
        &self.identity
    }

    /// How the votes and the inputs of the items that are split were matched, and what was left out.
    pub fn joined(&self) -> &Arc<Joined> {
        &self.joined
    }

    /// The places of the items that are split; the others are evaluated on.
    pub fn own(&self) -> Range<usize> {
        0..self.own
    }

    /// The places of the items of another data set that is judged on; `None` where a part of the
    /// split is.
    pub fn judged(&self) -> Option<Range<usize>> {
        self.identity.judged_on.as_ref().map(|_| self.own..self.table.len())
    }

    /// The data as the engine takes them, pictures normalized by those at `places`: every channel
    /// to mean 0 and deviation 1 over them.
    pub fn dataset(&self, places: &[usize]) -> Dataset {
        let mut dataset = self.dataset.clone();
        if let (Dataset::Images { mean, deviation, .. }, Kind::Images(images)) =
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

/// Inputs as the engine takes them; images normalized by this, or as they are.
pub fn engine_dataset(inputs: &Inputs, normalization: Option<&Normalization>) -> Dataset {
    match inputs.kind() {
        Kind::Images(images) => {
            let channels = images.channels();
            Dataset::Images {
                height: images.height(),
                width: images.width(),
                channels,
                pixels: images.pixels().into(),
                mean: normalization.map_or_else(|| vec![0.0; channels], |n| n.mean.clone()),
                deviation: normalization
                    .map_or_else(|| vec![1.0; channels], |n| n.deviation.clone()),
            }
        }
        Kind::Features(features) => {
            Dataset::Vectors { width: features.width(), values: features.values().into() }
        }
    }
}

/// Examples of a shape, in words.
pub fn describe_shape(shape: Shape) -> String {
    match shape {
        Shape::Map { height, width, channels } => format!("images of {height}×{width}×{channels}"),
        Shape::Flat { width } => format!("feature vectors of {width} numbers"),
    }
}

/// The items that have both votes and an input, sorted by id.
fn matched(table: &VoteTable, inputs: &Inputs) -> Result<(VoteTable, Inputs, Joined), TrainError> {
    table.scale().require("training", Scale::ONE_LABEL)?;
    let joined = join(table, inputs)?;
    let voted = table.distributions();
    let mut kept: Vec<(usize, usize)> =
        joined.items.iter().copied().filter(|&(item, _)| voted[item].is_some()).collect();
    kept.sort_unstable_by_key(|&(item, _)| table.items().name(item));
    let (items, rows): (Vec<usize>, Vec<usize>) = kept.into_iter().unzip();
    if items.is_empty() {
        return Err(TrainError::Data("no item has both votes and an input".into()));
    }
    Ok((table.select(&items), inputs.select(&rows), joined))
}

fn identity(name: &str, table: &VoteTable, inputs: &Inputs) -> DataIdentity {
    DataIdentity {
        name: name.to_owned(),
        votes_digest: table.digest().to_string(),
        inputs_digest: inputs.digest().to_string(),
        items: table.len() as u64,
        split_digest: None,
        judged_on: None,
    }
}
