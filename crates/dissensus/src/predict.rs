//! Predictions by the model of a stored run.

use dissensus_core::Ids;
use dissensus_engine::Device;
use dissensus_examine::{ModelSettings, Observer, StoredModel};
use dissensus_inputs::Inputs;
use dissensus_store::{Logits, RunInfo, Which};

use crate::Error;

/// What is asked of a stored model.
#[derive(Clone, Copy, Debug)]
pub struct PredictOptions {
    /// Which weights.
    pub which: Which,
    /// How the model is computed.
    pub settings: ModelSettings,
    /// What logits are divided by.
    pub temperature: f32,
    /// Whether logits are computed.
    pub logits: bool,
    /// Whether the inputs of the last layer are computed.
    pub features: bool,
}

/// The features of items, row after row.
#[derive(Clone, Debug)]
pub struct ItemFeatures {
    /// The items.
    pub ids: Vec<String>,
    /// Numbers per item.
    pub width: usize,
    /// The numbers.
    pub values: Vec<f32>,
}

/// What a stored model says about some inputs.
#[derive(Debug)]
pub struct StoredPredictions {
    /// The label of the run.
    pub label: String,
    /// Whether the inputs have ids; otherwise items are numbered by position.
    pub named: bool,
    /// How the columns of the inputs were matched with those of training, where a person should know it.
    pub note: Option<String>,
    /// The logits, where they were asked for.
    pub logits: Option<Logits<'static>>,
    /// The features, where they were asked for.
    pub features: Option<ItemFeatures>,
}

/// Predicts with the model of a stored run.
pub fn predict_stored(
    run: &RunInfo,
    inputs: Inputs,
    device: &dyn Device,
    options: &PredictOptions,
    observer: &Observer<'_>,
) -> Result<StoredPredictions, Error> {
    let model = StoredModel::read(run, options.which)?;
    let (label, named) = (model.spec().label(), inputs.ids().is_some());
    let ids = inputs.ids().cloned().unwrap_or_else(|| Ids::positions(inputs.len()));
    let ids: Vec<String> = ids.iter().map(str::to_owned).collect();
    let mut model = model.on_inputs(run, options.which, inputs, device, &options.settings)?;
    let note = model.note().map(str::to_owned);
    let mut logits = None;
    if options.logits {
        let mut values = model.logits(observer)?;
        if options.temperature != 1.0 {
            values.iter_mut().for_each(|logit| *logit /= options.temperature);
        }
        let classes = model.classes().to_vec();
        logits = Some(Logits::new(values, ids.clone(), classes)?);
    }
    let mut features = None;
    if options.features {
        let (width, values) = (model.feature_width(), model.features(observer)?);
        features = Some(ItemFeatures { ids, width, values });
    }
    Ok(StoredPredictions { label, named, note, logits, features })
}
