//! The models that a command examines: runs by their ids, their data, a device.

use std::path::PathBuf;

use dissensus::ModelOpener;
use dissensus::engine::Precision;
use dissensus::examine::{ExamineError, Model, ModelSettings, Observer};
use serde::Serialize;

use super::{DeviceArgs, StoreArgs, WeightsArgs};
use crate::interrupt;
use crate::ui::{self, progress::Terminal};

/// The models to examine, and the device.
#[derive(clap::Args)]
pub(crate) struct ModelArgs {
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    weights: WeightsArgs,
    /// The spec or study that the runs were trained with. It is needed if their data are neither a
    /// known dataset nor the data of a study in the store
    #[arg(long, value_name = "FILE.toml")]
    spec: Option<PathBuf>,
    /// The part of the split [default: the reported part, the last]
    #[arg(long, value_name = "PART")]
    pub(crate) part: Option<String>,
    #[command(flatten)]
    on: DeviceArgs,
}

/// The models of some runs, on a device.
pub(crate) struct Opened {
    pub(crate) models: Vec<Model>,
    opener: ModelOpener<'static>,
}

/// A result as it is printed in JSON, with the version and the device.
#[derive(Serialize)]
struct Printed<'a, T> {
    version: &'static str,
    device: String,
    #[serde(flatten)]
    found: &'a T,
}

impl ModelArgs {
    /// Opens the models of the runs with these ids or prefixes of ids.
    pub(crate) fn open<R: AsRef<str>>(&self, runs: &[R]) -> anyhow::Result<Opened> {
        self.open_in(runs, Precision::F32)
    }

    /// The same, in this precision where none is given and the device is a GPU.
    pub(crate) fn open_in<R: AsRef<str>>(
        &self,
        runs: &[R],
        on_gpu: Precision,
    ) -> anyhow::Result<Opened> {
        let store = self.store.open()?;
        let find = |run: &R| store.find(run.as_ref());
        let infos = runs.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let (device, precision) = self.on.open(on_gpu)?;
        let mut opener = ModelOpener {
            store,
            device,
            settings: ModelSettings { precision, ..ModelSettings::default() },
            which: self.weights.which(),
            spec: self.spec.clone(),
            context: super::context(),
            tasks: Vec::new(),
        };
        let models = infos.iter().map(|info| opener.open(info)).collect::<Result<_, _>>()?;
        Ok(Opened { models, opener })
    }
}

impl Opened {
    pub(crate) fn device(&self) -> &dyn dissensus::engine::Device {
        self.opener.device.device()
    }

    /// Prints a result as JSON.
    pub(crate) fn json<T: Serialize>(&self, found: &T) -> anyhow::Result<()> {
        let (version, device) = (dissensus::VERSION, self.device().describe());
        ui::json(&Printed { version, device, found })
    }
}

/// Asks a question, with bars that begin with this name; Ctrl-C stops it.
pub(crate) fn ask<T, E: From<ExamineError>>(
    name: &str,
    question: impl FnOnce(&Observer<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let _held = interrupt::hold("\nstopping (Ctrl-C again: at once)\n");
    question(&Observer::new(&Terminal::named(name), interrupt::cancel().clone()))
}
