//! `dissensus predict`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use dissensus::core::Ids;
use dissensus::examine::{ModelSettings, StoredModel};
use dissensus::inputs::Inputs;
use dissensus::io::FileError;
use dissensus::store::{Logits, RunInfo, Store, Which};
use dissensus::{LoadContext, PredictionFile, Silent, predictions_csv};

use super::inputs::InputArgs;
use super::runs::StoreArgs;
use crate::device::DeviceArgs;
use crate::examining::Terminal;
use crate::ui::{self, paint, text};

/// Predict with the model of a run.
///
/// Images or feature vectors are read as for training: .npy, .npz, a table with an id column,
/// safetensors, a folder of PNG or JPEG files, or the name of a dataset with images. Images are
/// normalized as the run's training images were. Predictions of a run's evaluation items equal those
/// stored with the run, bit for bit if both were computed on a CPU.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The run: its id, or the first digits of it; `dissensus runs` lists them
    #[arg(value_name = "RUN")]
    run: String,
    /// The inputs: a file, a folder of images, or cifar10h, cifar10n, cifar100, svhn, blends
    #[arg(value_name = "DATA")]
    data: PathBuf,
    /// The weights of the selected epoch (best) or of the last epoch (last)
    #[arg(long, value_name = "EPOCH", default_value = "best", value_parser = ["best", "last"])]
    weights: String,
    /// The file to write: .npz with logits, ids and classes, or .csv with probabilities [default:
    /// CSV on standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the inputs of the last layer (features), by id, as .npz. Predictions are then only
    /// written with --out
    #[arg(long, value_name = "FILE.npz")]
    features: Option<PathBuf>,
    /// Divide the logits by T: above 1 makes predictions less confident, below 1 more.
    /// `dissensus score --metrics temperature` estimates the best T
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
    reading: InputArgs,
    #[command(flatten)]
    on: DeviceArgs,
    #[command(flatten)]
    store: StoreArgs,
}

fn temperature(said: &str) -> Result<f32, String> {
    let value = said.parse().ok().filter(|value: &f32| value.is_finite() && *value > 0.0);
    value.ok_or_else(|| "a number above 0 is expected".to_owned())
}

/// Warns where the run was trained on some of the inputs.
fn warn_trained(info: &RunInfo, inputs: &Inputs, store: &Store) -> anyhow::Result<()> {
    let context = LoadContext::new(&Silent);
    let Some(trained) = dissensus::trained_on(info, store, &context)? else { return Ok(()) };
    let same = dissensus::count_same(inputs, &trained);
    if same > 0 {
        let (same, all) = (text::thousands(same as u64), text::thousands(inputs.len() as u64));
        ui::err(&format!(
            "{} {same} of {all} items are in the training part of this run: predictions for them say \
             nothing of new items\n",
            paint::warn("warning:")
        ));
    }
    Ok(())
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let out = match &args.out {
        None => None,
        Some(path) => Some((
            path,
            PredictionFile::of(path).with_context(|| {
                format!(
                    "the name {} has no known extension; use .npz (logits) or .csv \
                 (probabilities)",
                    path.display()
                )
            })?,
        )),
    };
    for path in [&args.out, &args.features].into_iter().flatten() {
        if !args.force && path.exists() {
            return Err(FileError::Exists { path: path.clone() }.into());
        }
    }
    let (device, precision) = args.on.open()?;
    let info = args.store.find(&args.run)?;
    let which = if args.weights == "last" { Which::Last } else { Which::Best };
    let model = StoredModel::read(&info, which)?;
    let (spec, label) = (model.spec().clone(), model.spec().label());
    let inputs = args.reading.read(&args.data)?;
    for note in inputs.notes() {
        ui::err(&paint::dim(&format!("{}: {note}\n", inputs.name())));
    }
    warn_trained(&info, &inputs, &args.store.open()?)?;
    if spec.run.precision != precision {
        let (own, now) = (spec.run.precision.name(), precision.name());
        ui::err(&paint::dim(&format!("the run was trained in {own}; predicting in {now}\n")));
    }
    let ids = inputs.ids().cloned();
    let unnamed = ids.is_none();
    let ids = ids.unwrap_or_else(|| Ids::positions(inputs.len()));
    let ids: Vec<String> = ids.iter().map(str::to_owned).collect();
    let settings = ModelSettings { precision, ..ModelSettings::default() };
    let mut model = model.on_inputs(&info, which, inputs, &*device, &settings)?;
    let bars = Terminal::default();
    let logits = match args.features.is_none() || args.out.is_some() {
        true => Some(model.logits(&bars.observer())?),
        false => None,
    };
    let features = match &args.features {
        Some(path) => Some((path, model.features(&bars.observer())?)),
        None => None,
    };
    drop(bars);
    if unnamed {
        ui::err("the inputs have no ids: rows are numbered 0, 1, … by position\n");
    }
    if let Some((path, features)) = features {
        let width = model.feature_width();
        ui::files::write(path, args.force, |file| {
            dissensus::inputs::write_features(file, &ids, width, &features)
        })?;
        let items = text::thousands(ids.len() as u64);
        ui::err(&format!("wrote {}: {items} items × {width} features\n", path.display()));
    }
    let Some(mut logits) = logits else { return Ok(ExitCode::SUCCESS) };
    if args.temperature != 1.0 {
        logits.iter_mut().for_each(|logit| *logit /= args.temperature);
    }
    let predictions = Logits::new(logits, ids, model.classes().to_vec())?;
    match out {
        None => ui::out_bytes(predictions_csv(&predictions).as_bytes())?,
        Some((path, form)) => {
            form.write(path, &predictions, args.force)?;
            let items = text::thousands(predictions.ids().len() as u64);
            let classes = predictions.classes().len();
            let line =
                format!("{label}, {} epoch, {items} items × {classes} classes", args.weights);
            ui::err(&format!("wrote {}: {line}\n", path.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}
