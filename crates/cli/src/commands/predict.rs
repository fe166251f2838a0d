//! `dissensus predict`

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use dissensus_core::Ids;
use dissensus_engine::{Dataset, Device, Network, Precision, Settings, State};
use dissensus_inputs::Inputs;
use dissensus_io::FileError;
use dissensus_store::{Logits, RunInfo, Which};
use dissensus_train::{Found, RunSpec, engine_dataset};

use super::runs::{StoreArgs, state_name};
use crate::device::DeviceArgs;
use crate::training::read_inputs;
use crate::ui::{self, paint, progress, text};

mod takes;
mod write;

use takes::Takes;

/// Predict with the model of a run.
///
/// The pictures or feature vectors come as they do for training: .npy, .npz, a table with an id
/// column, safetensors, a folder of PNG or JPEG files, or the name of a dataset with pictures.
/// Pictures are normalized as the run's training pictures were. The evaluation items of a run get
/// the numbers that the run has stored for them, bit for bit on a CPU where it was trained on one.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The run: its id, or the first digits of it; `dissensus runs` lists them
    #[arg(value_name = "RUN")]
    run: String,
    /// The inputs: a file, a folder of pictures, or cifar10h, cifar10n, cifar100, svhn, blends
    #[arg(value_name = "DATA")]
    data: PathBuf,
    /// The weights: those of the selected epoch (best), or those at the end (last)
    #[arg(long, value_name = "WHICH", default_value = "best", value_parser = ["best", "last"])]
    which: String,
    /// The file to write: .npz with logits, ids and classes, or .csv with probabilities [default:
    /// CSV on standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write what the last layer sees of the inputs, by id, as .npz: features that a head can be
    /// trained on. Predictions are then written with --out alone
    #[arg(long, value_name = "FILE.npz")]
    features: Option<PathBuf>,
    /// Divide the logits by this, to make predictions less sure (above 1) or surer (below 1).
    /// `dissensus score --metrics temperature` says which is best for voted items
    #[arg(
        long,
        value_name = "T",
        default_value_t = 1.0,
        value_parser = temperature,
        allow_negative_numbers = true
    )]
    temperature: f32,
    /// Replace existing files
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    on: DeviceArgs,
    #[command(flatten)]
    store: StoreArgs,
}

fn temperature(said: &str) -> Result<f32, String> {
    let value = said.parse().ok().filter(|value: &f32| value.is_finite() && *value > 0.0);
    value.ok_or_else(|| "a number above 0 is expected".to_owned())
}

/// Examples in a batch.
const BATCH: usize = 128;

/// Examples between two steps of the progress bar.
const STRIDE: usize = 8 * BATCH;

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let form = args.out.as_deref().map(write::form_of).transpose()?;
    for path in [&args.out, &args.features].into_iter().flatten() {
        if !args.force && path.exists() {
            return Err(FileError::Exists { path: path.clone() }.into());
        }
    }
    let (device, precision) = args.on.open()?;
    let info = args.store.find(&args.run)?;
    let which = if args.which == "last" { Which::Last } else { Which::Best };
    let mut model = Model::of(&info, which)?;
    let inputs = read_inputs(&args.data)?;
    for note in inputs.notes() {
        ui::err(&paint::dim(&format!("{}: {note}\n", inputs.name())));
    }
    if model.spec.run.precision != precision {
        let (own, now) = (model.spec.run.precision.name(), precision.name());
        ui::err(&paint::dim(&format!("the run was trained in {own}; predicting in {now}\n")));
    }
    let ids = inputs.ids().cloned();
    let unnamed = ids.is_none();
    let ids = ids.unwrap_or_else(|| Ids::positions(inputs.len()));
    let ids: Vec<String> = ids.iter().map(str::to_owned).collect();
    let Asked { logits, features } = model.ask(inputs, &*device, precision, args)?;
    if unnamed {
        ui::err("the inputs have no ids: rows are called 0, 1, … by position\n");
    }
    if let (Some(path), Some((width, features))) = (&args.features, features) {
        ui::files::write(path, args.force, |file| {
            dissensus_inputs::write_features(file, &ids, width, &features)
        })?;
        let items = text::thousands(ids.len() as u64);
        ui::err(&format!("wrote {}: {items} items × {width} features\n", path.display()));
    }
    let Some(mut logits) = logits else { return Ok(ExitCode::SUCCESS) };
    if args.temperature != 1.0 {
        logits.iter_mut().for_each(|logit| *logit /= args.temperature);
    }
    let predictions = Logits::new(logits, ids, model.classes)?;
    match args.out.as_deref().zip(form) {
        None => ui::out_bytes(write::csv(&predictions).as_bytes())?,
        Some((path, form)) => {
            write::file(path, args.force, form, &predictions)?;
            let items = text::thousands(predictions.ids().len() as u64);
            let (label, classes) = (model.spec.label(), predictions.classes().len());
            let line = format!("{label}, {} epoch, {items} items × {classes} classes", args.which);
            ui::err(&format!("wrote {}: {line}\n", path.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What is known of all inputs, row after row.
struct Asked {
    logits: Option<Vec<f32>>,
    /// How many an input, and all of them.
    features: Option<(usize, Vec<f32>)>,
}

/// A trained model, as its run has stored it.
struct Model {
    spec: RunSpec,
    takes: Takes,
    classes: Vec<String>,
    weights: Found,
}

impl Model {
    fn of(info: &RunInfo, which: Which) -> anyhow::Result<Self> {
        let id = &info.id;
        let spec: RunSpec = serde_json::from_value(info.spec.clone())
            .with_context(|| format!("run {id} is not one that this version can predict with"))?;
        let result = info.result()?;
        let weights = info.weights(which)?;
        let stored = info.predictions(which)?;
        let (Some(result), Some(weights), Some(stored)) = (result, weights, stored) else {
            let (state, hint) = (state_name(&info.status.state), paint::strong("hint:"));
            anyhow::bail!(
                "run {id} is {state}, and only a finished one can predict\n{hint} train its spec \
                 again until it is finished"
            );
        };
        let takes =
            Takes::of(&spec.run.model, &weights, &result).with_context(|| format!("run {id}"))?;
        let classes = stored.classes().to_vec();
        Ok(Self { spec, takes, classes, weights: Found::new(weights) })
    }

    /// What is asked of all inputs, row after row.
    fn ask(
        &mut self,
        inputs: Inputs,
        device: &dyn Device,
        precision: Precision,
        args: &Args,
    ) -> anyhow::Result<Asked> {
        let dataset = self.dataset(&inputs)?;
        let plan = &self.spec.run;
        let network: Network = plan.model.network(dataset.shape(), self.classes.len())?;
        let width = network.nodes()[network.features()].shape.len();
        let (parameters, statistics) = self.weights.weights(&network, "")?;
        let optimizer = plan.training.optimizer;
        let slots = optimizer.slots().iter().map(|_| vec![0.0; parameters.len()]).collect();
        let state = State { parameters, statistics, slots, steps: 0 };
        let rows = u32::try_from(dataset.len()).context("more inputs than can be predicted")?;
        let batch = BATCH.min(dataset.len());
        let settings = Settings { precision, batch, optimizer, threads: 0 };
        let mut runner = device.runner(&Arc::new(network), &dataset, &settings, state)?;
        let rows: Vec<u32> = (0..rows).collect();
        let mut logits = (args.features.is_none() || args.out.is_some()).then(Vec::new);
        let mut features = args.features.is_some().then(Vec::new);
        let bar = progress::steps(rows.len(), "predicting");
        for some in rows.chunks(STRIDE) {
            if let Some(logits) = &mut logits {
                logits.extend(runner.logits(some)?);
            }
            if let Some(features) = &mut features {
                features.extend(runner.features(some)?);
            }
            bar.inc(some.len() as u64);
        }
        bar.finish_and_clear();
        Ok(Asked { logits, features: features.map(|values| (width, values)) })
    }

    /// The inputs as the engine takes them, normalized as the training pictures were.
    fn dataset(&self, inputs: &Inputs) -> anyhow::Result<Dataset> {
        let name = inputs.name().to_owned();
        let mut dataset = engine_dataset(&inputs);
        match (&mut dataset, &self.takes.normalization) {
            (Dataset::Pictures { mean, deviation, .. }, Some(normalization)) => {
                mean.clone_from(&normalization.mean);
                deviation.clone_from(&normalization.deviation);
            }
            (Dataset::Vectors { .. }, None) => {}
            (other, _) => anyhow::bail!(self.takes.refusal(&name, other.shape())),
        }
        self.takes.check(&name, dataset.shape())?;
        Ok(dataset)
    }
}
