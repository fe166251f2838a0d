//! `[run]`: the seeds and the precision, which decide a result, and how the runs are run, which
//! does not.

use std::path::PathBuf;

use dissensus_engine::Precision;
use serde::{Deserialize, Serialize};

use super::read::{Reader, Refusal, flag, several, text, whole};
use crate::SpecError;

/// The seeds of the runs, and how they are run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Run {
    /// The seeds, one run an arm each.
    pub seeds: Vec<u64>,
    /// The numbers that are computed with. Part of what a run is.
    pub precision: Precision,
    /// `auto`, `cpu`, `cuda` or `cuda:N`. From here on, nothing is part of what a run is.
    pub device: String,
    /// How many runs share a device; `None` to find out.
    pub lanes: Option<u64>,
    /// How many threads; `None` for all cores.
    pub threads: Option<u64>,
    /// The folder of runs.
    pub store: PathBuf,
    /// When a run is saved so that it can be resumed.
    pub checkpoint: Checkpoint,
    /// Whether curves are written for TensorBoard, too.
    pub tensorboard: bool,
}

/// When a run is saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Checkpoint {
    /// So often that little is lost, and so rarely that it does not slow the run.
    Auto,
    /// After every epoch.
    EveryEpoch,
    /// Only once it is done.
    End,
}

pub(super) const PRECISIONS: &[&str] = &Precision::NAMES;
pub(super) const CHECKPOINTS: &[&str] = &["auto", "every-epoch", "end"];

/// Seeds that a number asks for are written out; this many is a slip.
const MOST_SEEDS: u64 = 10_000;

impl Run {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, SpecError> {
        let seeds = reader.read("run", "seeds", |value| match value.is_integer() {
            true => Ok((0..whole(1..=MOST_SEEDS)(value)?).collect()),
            false => several(value, whole(0..)),
        })?;
        let precision = Precision::named(reader.choose("run", "precision")?).unwrap_or_default();
        let device = reader.read("run", "device", |value| {
            let device = text(value)?;
            let card = device.strip_suffix("+alone").unwrap_or(&device);
            let numbered = || card.strip_prefix("cuda:").map(str::parse::<u8>);
            let known = device == "cpu" || ["auto", "cuda"].contains(&card);
            let known = known || matches!(numbered(), Some(Ok(_)));
            if known { Ok(device) } else { Err(Refusal::Unexpected) }
        })?;
        let count = |value: &toml::Value| match value.as_str() {
            Some("auto") => Ok(None),
            _ => whole(1..)(value).map(Some),
        };
        let (lanes, threads) =
            (reader.read("run", "lanes", count)?, reader.read("run", "threads", count)?);
        let store = reader.read("run", "store", text)?.into();
        let checkpoint = match reader.choose("run", "checkpoint")? {
            "every-epoch" => Checkpoint::EveryEpoch,
            "end" => Checkpoint::End,
            _ => Checkpoint::Auto,
        };
        let tensorboard = reader.read("run", "tensorboard", flag)?;
        Ok(Self { seeds, precision, device, lanes, threads, store, checkpoint, tensorboard })
    }
}
