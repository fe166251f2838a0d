//! `dissensus predict`

use std::path::PathBuf;

use anyhow::Context as _;
use dissensus::engine::Precision;
use dissensus::examine::{ModelSettings, StoredModel};
use dissensus::inputs::WITH_IMAGES;
use dissensus::{
    LoadContext, PredictOptions, PredictionFile, Silent, count_same, predict_stored,
    predictions_csv, trained_on,
};

use crate::args::{DeviceArgs, InputArgs, StoreArgs, WeightsArgs, ask};
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
    #[arg(value_name = "DATA", help = inputs())]
    data: PathBuf,
    #[command(flatten)]
    weights: WeightsArgs,
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

/// Warns where a run was trained on some of the items.
pub(super) fn warn_trained(model: &str, trained: usize, items: usize) {
    if trained > 0 {
        let (trained, items) = (text::thousands(trained), text::thousands(items));
        ui::err(&format!(
            "{} {model}{trained} of {items} items are in the training part of the run: numbers on \
             them say nothing of new items\n",
            paint::warn("warning:")
        ));
    }
}

fn temperature(said: &str) -> Result<f32, String> {
    let value = said.parse().ok().filter(|value: &f32| value.is_finite() && *value > 0.0);
    value.ok_or_else(|| "a number above 0 is expected".to_owned())
}

fn inputs() -> String {
    format!("The inputs: a file, a folder of images, or {}", WITH_IMAGES.join(", "))
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let unknown = |path: &PathBuf| {
        let path = path.display();
        format!("the name {path} has no known extension; use .npz (logits) or .csv (probabilities)")
    };
    let out = match &args.out {
        Some(path) => Some((path, PredictionFile::of(path).with_context(|| unknown(path))?)),
        None => None,
    };
    for path in [&args.out, &args.features] {
        dissensus::files::check_free(path.as_deref(), args.force)?;
    }
    let (device, precision) = args.on.open(Precision::F32)?;
    let (store, which) = (args.store.open()?, args.weights.which());
    let info = store.find(&args.run)?;
    let trained = StoredModel::read(&info, which)?.spec().run.precision;
    let inputs = args.reading.read(&args.data)?;
    if let Some(trained) = trained_on(&info, &store, &LoadContext::new(&Silent))? {
        warn_trained("", count_same(&inputs, &trained), inputs.len());
    }
    if trained != precision {
        let (own, now) = (trained.name(), precision.name());
        ui::remark(&format!("the run was trained in {own}; predicting in {now}"));
    }
    let options = PredictOptions {
        which,
        settings: ModelSettings { precision, ..ModelSettings::default() },
        temperature: args.temperature,
        logits: args.features.is_none() || args.out.is_some(),
        features: args.features.is_some(),
    };
    let found =
        ask("", |observer| predict_stored(&info, inputs, device.device(), &options, observer))?;
    found.note.iter().for_each(|note| ui::note(note));
    if !found.named {
        ui::err("the inputs have no ids: rows are numbered 0, 1, … by position\n");
    }
    if let (Some(path), Some(features)) = (&args.features, found.features) {
        dissensus::files::write(path, args.force, |file| {
            dissensus::inputs::write_features(file, &features.ids, features.width, &features.values)
        })?;
        let items = text::thousands(features.ids.len());
        ui::wrote(path, &format!("{items} items × {} features", features.width));
    }
    match (out, found.logits) {
        (None, Some(logits)) => ui::data(predictions_csv(&logits).as_bytes())?,
        (Some((path, form)), Some(logits)) => {
            form.write(path, &logits, args.force)?;
            let (items, classes) = (text::thousands(logits.ids().len()), logits.classes().len());
            let (label, epoch) = (found.label, which.name());
            ui::wrote(path, &format!("{label}, {epoch} epoch, {items} items × {classes} classes"));
        }
        (_, None) => {}
    }
    Ok(())
}
