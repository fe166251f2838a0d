//! What the commands that examine models share: runs by their ids, their data, a device.

use std::path::PathBuf;

use anyhow::Context as _;
use dissensus::engine::Device;
use dissensus::examine::{Model, ModelSettings};
use dissensus::geometry::curvature::Estimate;
use dissensus::store::{RunInfo, Which};
use dissensus::train::{RunSpec, Task};
use serde::Serialize;

use crate::commands::runs::StoreArgs;
use crate::device::DeviceArgs;
use crate::training::find_data;
use crate::ui::{self, paint};

pub(crate) use crate::ui::progress::Terminal;

/// The models to examine, and the device.
#[derive(clap::Args)]
pub(crate) struct Models {
    #[command(flatten)]
    store: StoreArgs,
    /// The weights of the selected epoch (best) or of the last epoch (last)
    #[arg(long, value_name = "EPOCH", default_value = "best", value_parser = ["best", "last"])]
    weights: String,
    /// The spec or study that the runs were trained with. It is needed if their data are neither a
    /// known dataset nor the data of a study in the store
    #[arg(long, value_name = "FILE.toml")]
    spec: Option<PathBuf>,
    #[command(flatten)]
    on: DeviceArgs,
}

impl Models {
    /// The runs with these ids or prefixes of ids.
    pub(crate) fn find(&self, runs: &[String]) -> anyhow::Result<Vec<RunInfo>> {
        runs.iter().map(|run| self.store.find(run)).collect()
    }

    /// Opens the device; data of runs are loaded when they are needed.
    pub(crate) fn open(&self) -> anyhow::Result<OpenModels<'_>> {
        let (device, precision) = self.on.open()?;
        let settings = ModelSettings { precision, ..ModelSettings::default() };
        Ok(OpenModels { models: self, device, settings, tasks: Vec::new() })
    }

    fn which(&self) -> Which {
        if self.weights == "last" { Which::Last } else { Which::Best }
    }
}

/// A device, and the data that were loaded.
pub(crate) struct OpenModels<'a> {
    models: &'a Models,
    pub(crate) device: Box<dyn Device>,
    settings: ModelSettings,
    tasks: Vec<Task>,
}

/// A result as it is printed in JSON, with the version and the device.
#[derive(Serialize)]
struct Printed<'a, T> {
    version: &'static str,
    device: String,
    #[serde(flatten)]
    found: &'a T,
}

impl OpenModels<'_> {
    /// Prints a result as JSON.
    pub(crate) fn print<T: Serialize>(&self, found: &T) -> anyhow::Result<()> {
        let (version, device) = (dissensus::VERSION, self.device.describe());
        let printed = Printed { version, device, found };
        Ok(ui::out(&format!("{}\n", serde_json::to_string_pretty(&printed)?))?)
    }

    /// A run's model.
    pub(crate) fn model(&mut self, info: &RunInfo) -> anyhow::Result<Model> {
        let at = self.task(info)?;
        let (task, which) = (&self.tasks[at], self.models.which());
        Ok(Model::open(info, task, which, &*self.device, &self.settings)?)
    }

    /// The models of some runs.
    pub(crate) fn all(&mut self, infos: &[RunInfo]) -> anyhow::Result<Vec<Model>> {
        infos.iter().map(|info| self.model(info)).collect()
    }

    /// The place of a run's data, which are loaded once.
    fn task(&mut self, info: &RunInfo) -> anyhow::Result<usize> {
        let spec: RunSpec = serde_json::from_value(info.spec.clone())
            .with_context(|| format!("run {} is not one that this version can examine", info.id))?;
        let wanted = &spec.data;
        if let Some(at) = self.tasks.iter().position(|task| task.identity().same_content(wanted)) {
            return Ok(at);
        }
        let found = find_data(wanted, self.models.spec.as_deref(), &self.models.store.open()?)?;
        let Some(task) = found else {
            let hint = paint::strong("hint:");
            let (name, items) = (&wanted.name, wanted.items);
            match &self.models.spec {
                Some(path) => anyhow::bail!(
                    "run {} was trained on other data than those of {}: on {name}, {items} items\n\
                     {hint} give the spec or study that it was trained with, and check that its files \
                     have not changed",
                    info.id,
                    path.display()
                ),
                None => anyhow::bail!(
                    "the data of run {} were not found: {name}, {items} items\n{hint} give \
                     the spec or study that it was trained with, as in --spec study.toml",
                    info.id
                ),
            }
        };
        self.tasks.push(task);
        Ok(self.tasks.len() - 1)
    }
}

/// The first digits of a run, as lists show them.
pub(crate) fn short(id: &str) -> String {
    id.chars().take(8).collect()
}

/// A number with four significant digits.
pub(crate) fn significant(value: f64) -> String {
    rounded(value, 4)
}

/// A number with this many significant digits.
fn rounded(value: f64, places: i32) -> String {
    let size = value.abs();
    match size {
        0.0 => "0".to_owned(),
        _ if !(1e-4..1e7).contains(&size) => format!("{value:.*e}", places as usize - 1),
        _ => {
            let behind = places - 1 - size.log10().floor() as i32;
            format!("{value:.*}", behind.max(0) as usize)
        }
    }
}

/// An estimate with its error: `104.9 ± 0.1`; one that did not converge with a question mark.
pub(crate) fn estimated(estimate: Option<Estimate>) -> String {
    let Some(Estimate { value, error, converged, .. }) = estimate else { return "–".to_owned() };
    let doubt = if converged { "" } else { " ?" };
    match error {
        Some(error) => format!("{} ± {}{doubt}", significant(value), rounded(error, 2)),
        None => format!("{}{doubt}", significant(value)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_their_errors() {
        let all = [0.0, 104.87, 1633.94, 0.0123456, -2.5, 9.0e-6, 3.0e9].map(significant);
        assert_eq!(all, ["0", "104.9", "1634", "0.01235", "-2.500", "9.000e-6", "3.000e9"]);
        let estimate =
            Estimate { value: 104.87, error: Some(0.0396), products: 9, converged: true };
        assert_eq!(estimated(Some(estimate)), "104.9 ± 0.040");
        let cut_off = Estimate { error: Some(12.3), converged: false, ..estimate };
        assert_eq!(estimated(Some(cut_off)), "104.9 ± 12 ?");
        assert_eq!(estimated(None), "–");
    }
}
