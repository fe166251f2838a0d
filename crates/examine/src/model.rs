//! A run's model on a device: its weights as stored, its split as its seed drew it, and the votes.

use std::sync::Arc;

use dissensus_core::Ids;
use dissensus_engine::{
    Dataset, Device, Network, Optimizer, Precision, Runner, Settings, State, Weights,
};
use dissensus_store::{RunInfo, Which};
use dissensus_train::{DataIdentity, Part, RunSpec, Setup, Task};
use serde::{Deserialize, Serialize};

use crate::{ExamineError, Observer, Slice, StoredModel};

/// How a model is put on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelSettings {
    /// The numbers to compute with; a CPU has f32 alone.
    pub precision: Precision,
    /// Examples at a time.
    pub batch: usize,
    /// Threads of the host; 0 for all cores.
    pub threads: usize,
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self { precision: Precision::F32, batch: 128, threads: 0 }
    }
}

/// Examples between two reports of progress.
const STRIDE: usize = 2048;

/// Nothing is trained here, so nothing is remembered between steps.
const OPTIMIZER: Optimizer = Optimizer::Sgd { momentum: 0.0, nesterov: false, weight_decay: 0.0 };

/// A finished run's model, ready to be asked.
pub struct Model {
    id: String,
    spec: RunSpec,
    settings: ModelSettings,
    network: Arc<Network>,
    dataset: Dataset,
    weights: Weights,
    /// All parts of the split, training first.
    parts: Vec<Part>,
    items: Ids,
    classes: Vec<String>,
    targets: Vec<f32>,
    entropies: Vec<f64>,
    runner: Box<dyn Runner>,
}

/// Items to ask about.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chosen {
    /// The part that they are of.
    pub(crate) part: String,
    /// Rows of the data.
    pub(crate) rows: Vec<u32>,
}

impl Model {
    /// The model of a finished run, with the data that it was trained on.
    pub fn open(
        info: &RunInfo,
        task: &Task,
        which: Which,
        device: &dyn Device,
        settings: &ModelSettings,
    ) -> Result<Self, ExamineError> {
        let (id, spec, mut weights) = StoredModel::read(info, which)?.into_parts();
        if !task.identity().same_content(&spec.data) {
            let (expected, found) = (told(&spec.data), told(task.identity()));
            return Err(ExamineError::OtherData { id, expected, found });
        }
        if settings.batch == 0 {
            let (value, expected) = ("0".to_owned(), "at least 1".to_owned());
            return Err(ExamineError::Setting { name: "batch", value, expected });
        }
        let Setup { network, dataset, train, parts, .. } = Setup::new(task, &spec.run)?;
        let places: Vec<usize> = train.iter().map(|&row| row as usize).collect();
        let truth = Arc::new(task.truth().select(&places)?);
        let name = spec.run.split.parts.first().cloned().unwrap_or_default();
        let training = Part { name, rows: train, truth };
        let (parameters, statistics) = weights.weights(&network, "")?;
        let weights = Weights { parameters, statistics };
        let runner = runner(device, &network, &dataset, settings, &weights)?;
        let truth = task.truth();
        Ok(Self {
            id,
            spec,
            settings: *settings,
            network,
            dataset,
            weights,
            parts: std::iter::once(training).chain(parts).collect(),
            items: task.table().items().clone(),
            classes: task.table().classes().names().to_vec(),
            targets: truth.targets().iter().map(|&p| p as f32).collect(),
            entropies: truth.entropy().to_vec(),
            runner,
        })
    }

    /// The run's name in its store.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The run's name for people: `sls · 5 votes · seed 2`.
    pub fn label(&self) -> String {
        self.spec.label()
    }

    /// All that decided the run's result.
    pub fn spec(&self) -> &RunSpec {
        &self.spec
    }

    /// How it was put on its device.
    pub fn settings(&self) -> &ModelSettings {
        &self.settings
    }

    pub fn network(&self) -> &Arc<Network> {
        &self.network
    }

    /// All data, images normalized as the training images were; parts are rows of them.
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// The names of the classes.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The ids of all items, by row.
    pub fn items(&self) -> &Ids {
        &self.items
    }

    /// The shares of the votes on every row, row by row: the targets of the loss.
    pub fn targets(&self) -> &[f32] {
        &self.targets
    }

    /// How much people disagree, by row, in nats.
    pub fn entropies(&self) -> &[f64] {
        &self.entropies
    }

    /// A part by its name, or the one that is reported.
    pub fn part(&self, name: Option<&str>) -> Result<&Part, ExamineError> {
        let found = match name {
            Some(name) => self.parts.iter().find(|part| part.name == name),
            None => self.parts.last(),
        };
        found.ok_or_else(|| {
            let names: Vec<&str> = self.parts.iter().map(|part| part.name.as_str()).collect();
            let part = name.unwrap_or_default().to_owned();
            ExamineError::Part { id: self.id.clone(), part, known: names.join(", ") }
        })
    }

    /// The rows that it was trained on, in an order that does not depend on that of the data.
    pub fn trained_on(&self) -> &[u32] {
        self.parts.first().map_or(&[], |part| &part.rows)
    }

    /// The rows of items by their ids.
    pub fn rows(&self, ids: &[String]) -> Result<Vec<u32>, ExamineError> {
        let known = |id: &&String| self.items.position(id).is_none();
        let missing: Vec<&String> = ids.iter().filter(known).collect();
        if let Some(first) = missing.first() {
            let more = match missing.len() {
                1 => String::new(),
                n => format!(", nor {} others of those named", n - 1),
            };
            return Err(ExamineError::Item {
                id: self.id.clone(),
                missing: format!("{first:?}{more}"),
                example: self.items.iter().next().unwrap_or_default().to_owned(),
            });
        }
        let place = |id: &String| self.items.position(id).map(|place| place as u32);
        Ok(ids.iter().filter_map(place).collect())
    }

    /// The `count` items of a part that people disagree on most, by entropy and then id.
    pub fn most_divided(&self, part: Option<&str>, count: usize) -> Result<Vec<u32>, ExamineError> {
        let mut rows = self.part(part)?.rows.clone();
        // The rows of a part are in the order of ids.
        let entropy = |row: u32| self.entropies[row as usize];
        rows.sort_by(|&a, &b| entropy(b).total_cmp(&entropy(a)).then(a.cmp(&b)));
        rows.truncate(count);
        Ok(rows)
    }

    /// The rows of a slice of a part, at least `least`.
    pub(crate) fn chosen(
        &self,
        part: Option<&str>,
        slice: Slice,
        least: usize,
    ) -> Result<Chosen, ExamineError> {
        let part = self.part(part)?;
        let places = slice.places(part.truth.entropy())?;
        if places.len() < least {
            let what = format!("slice {slice} of {} of run {}", part.name, self.id);
            return Err(ExamineError::Few { what, found: places.len(), least });
        }
        let rows = places.into_iter().map(|place| part.rows[place]).collect();
        Ok(Chosen { part: part.name.clone(), rows })
    }

    /// What computes, with the model's weights in it.
    pub fn runner(&mut self) -> &mut dyn Runner {
        &mut *self.runner
    }

    /// The runner, and what it is asked with.
    pub(crate) fn asked(&mut self) -> (&mut dyn Runner, &Network, &[f32]) {
        (&mut *self.runner, &self.network, &self.targets)
    }

    /// The outputs of the network's head for rows, one row of classes each.
    pub fn outputs(
        &mut self,
        rows: &[u32],
        observer: &Observer<'_>,
    ) -> Result<Vec<f32>, ExamineError> {
        in_strides(rows, "outputs", observer, |some| Ok(self.runner.outputs(some)?))
    }

    /// The class logits of rows, one row of classes each: their softmax are the predicted probabilities.
    pub fn logits(
        &mut self,
        rows: &[u32],
        observer: &Observer<'_>,
    ) -> Result<Vec<f32>, ExamineError> {
        in_strides(rows, "logits", observer, |some| Ok(self.runner.logits(some)?))
    }

    /// What the last layer reads, for these rows.
    pub fn features(
        &mut self,
        rows: &[u32],
        observer: &Observer<'_>,
    ) -> Result<Vec<f32>, ExamineError> {
        in_strides(rows, "features", observer, |some| Ok(self.runner.features(some)?))
    }

    /// The same model over other data.
    pub(crate) fn over(
        &self,
        device: &dyn Device,
        data: &Dataset,
    ) -> Result<Box<dyn Runner>, ExamineError> {
        runner(device, &self.network, data, &self.settings, &self.weights)
    }

    /// Refuses a model of other data, whose rows are not the same items.
    pub(crate) fn same_items(&self, other: &Self) -> Result<(), ExamineError> {
        if self.spec.data.same_content(&other.spec.data) {
            return Ok(());
        }
        let (mine, theirs) = (told(&self.spec.data), told(&other.spec.data));
        Err(ExamineError::NotAlike {
            first: self.id.clone(),
            second: other.id.clone(),
            reason: format!("were trained on other data, {mine} and {theirs}; take runs of one"),
        })
    }
}

pub(crate) fn runner(
    device: &dyn Device,
    network: &Arc<Network>,
    data: &Dataset,
    settings: &ModelSettings,
    weights: &Weights,
) -> Result<Box<dyn Runner>, ExamineError> {
    let Weights { parameters, statistics } = weights.clone();
    let state = State { parameters, statistics, slots: Vec::new(), steps: 0 };
    let batch = settings.batch.min(data.len()).max(1);
    let ModelSettings { precision, threads, .. } = *settings;
    let settings = Settings { precision, batch, optimizer: OPTIMIZER, threads };
    Ok(device.runner(network, data, &settings, state)?)
}

/// What `of` gives for all rows, some at a time.
pub(crate) fn in_strides(
    rows: &[u32],
    what: &str,
    observer: &Observer<'_>,
    mut of: impl FnMut(&[u32]) -> Result<Vec<f32>, ExamineError>,
) -> Result<Vec<f32>, ExamineError> {
    let (mut values, mut done) = (Vec::new(), 0);
    for some in rows.chunks(STRIDE) {
        values.extend(of(some)?);
        done += some.len();
        observer.advanced(what, done, rows.len())?;
    }
    Ok(values)
}

/// A data set in words.
fn told(data: &DataIdentity) -> String {
    let DataIdentity { name, votes_digest, inputs_digest, items, judged_on, .. } = data;
    let short = |digest: &str| digest.chars().take(8).collect::<String>();
    let (votes, inputs) = (short(votes_digest), short(inputs_digest));
    let on = judged_on.as_ref().map_or(String::new(), |data| format!(", judged on {}", told(data)));
    format!("{name} ({items} items, votes {votes}…, inputs {inputs}…){on}")
}
