//! `[run]`: the seeds and the precision, which determine a result, and how runs are executed, which
//! does not.

use std::path::PathBuf;

use dissensus_core::limits::MAX_THREADS;
use dissensus_engine::Precision;
use serde::{Deserialize, Serialize};

use super::read::{Reader, Refusal, flag, several, text, whole};
use crate::{ConfigError, OpenDevice};

/// The seeds of the runs, and how they are executed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Run {
    /// The seeds, one run per arm and seed.
    pub seeds: Vec<u64>,
    /// The floating-point format. Part of a run's identity; all keys below are not.
    pub precision: Precision,
    /// The folder of runs.
    pub store: PathBuf,
    /// How the runs are executed.
    #[serde(flatten)]
    pub execution: Execution,
}

/// How runs are executed; nothing of it changes a result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Execution {
    /// `auto`, `cpu`, `cuda` or `cuda:N`; `:exclusive` behind it for one run at a time.
    pub device: String,
    /// How many runs share a device; `None` for the fastest number.
    pub jobs: Option<usize>,
    /// Threads of all runs together; `None` for all cores.
    pub threads: Option<usize>,
    /// When a run saves a checkpoint, to resume from.
    pub checkpoint: Checkpoint,
    /// Whether curves are also written for TensorBoard, into the runs' folders.
    pub tensorboard: bool,
    /// A folder for these curves instead, with one folder per run.
    #[serde(skip)]
    pub curves: Option<PathBuf>,
}

impl Default for Execution {
    /// As a spec without these keys.
    fn default() -> Self {
        Self {
            device: "auto".to_owned(),
            jobs: None,
            threads: None,
            checkpoint: Checkpoint::Auto,
            tensorboard: false,
            curves: None,
        }
    }
}

/// When a run saves a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Checkpoint {
    /// As often as possible without slowing the run down.
    Auto,
    /// After every epoch.
    EveryEpoch,
    /// Only at the end.
    End,
}

pub(super) const PRECISIONS: &[&str] = &Precision::NAMES;
pub(super) const CHECKPOINTS: &[&str] = &["auto", "every-epoch", "end"];

/// A larger number of seeds is taken for a mistake.
const MOST_SEEDS: u64 = 10_000;

/// Seeds as they are written: how many, or a list; `None` where it is neither.
pub fn seeds(value: &toml::Value) -> Option<Vec<u64>> {
    read_seeds(value).ok()
}

fn read_seeds(value: &toml::Value) -> Result<Vec<u64>, Refusal> {
    match value.is_integer() {
        true => Ok((0..whole(1..=MOST_SEEDS)(value)?).collect()),
        false => several(value, whole(0..)),
    }
}

impl Run {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, ConfigError> {
        let seeds = reader.read("run", "seeds", read_seeds)?;
        let precision = Precision::named(reader.choose("run", "precision")?).unwrap_or_default();
        let device = reader.read("run", "device", |value| {
            let device = text(value)?;
            if OpenDevice::is_name(&device) { Ok(device) } else { Err(Refusal::Unexpected) }
        })?;
        let count = |value: &toml::Value| match value.as_str() {
            Some("auto") => Ok(None),
            _ => Ok(usize::try_from(whole(1..=MAX_THREADS as u64)(value)?).ok()),
        };
        let jobs = reader.read("run", "jobs", count)?;
        let threads = reader.read("run", "threads", count)?;
        let store = reader.read("run", "store", text)?.into();
        let checkpoint = match reader.choose("run", "checkpoint")? {
            "every-epoch" => Checkpoint::EveryEpoch,
            "end" => Checkpoint::End,
            _ => Checkpoint::Auto,
        };
        let tensorboard = reader.read("run", "tensorboard", flag)?;
        let curves = None;
        let execution = Execution { device, jobs, threads, checkpoint, tensorboard, curves };
        Ok(Self { seeds, precision, store, execution })
    }
}
