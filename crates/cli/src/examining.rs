//! What the commands that examine models share: runs by their digits, their data found again, a
//! device, and bars.

use std::path::PathBuf;

use anyhow::Context as _;
use dissensus_engine::Device;
use dissensus_examine::{Model, ModelSettings, Progress};
use dissensus_geometry::curvature::Estimate;
use dissensus_store::{RunInfo, Store, Which};
use dissensus_studies::{Study, files};
use dissensus_train::spec::Data;
use dissensus_train::{DataIdentity, RunSpec, Task};
use indicatif::ProgressBar;
use serde::Serialize;

use crate::commands::runs::StoreArgs;
use crate::device::DeviceArgs;
use crate::training::load;
use crate::ui::{self, paint, progress};

/// Which models, and where they are computed.
#[derive(clap::Args)]
pub(crate) struct Models {
    #[command(flatten)]
    store: StoreArgs,
    /// The weights: those of the selected epoch (best), or those at the end (last)
    #[arg(long, value_name = "WHICH", default_value = "best", value_parser = ["best", "last"])]
    which: String,
    /// The spec or study that the runs were trained with. It is needed where their data are neither
    /// a dataset known by its name nor those of a study in the store
    #[arg(long, value_name = "FILE.toml")]
    spec: Option<PathBuf>,
    #[command(flatten)]
    on: DeviceArgs,
}

impl Models {
    /// The runs of these digits.
    pub(crate) fn find(&self, runs: &[String]) -> anyhow::Result<Vec<RunInfo>> {
        runs.iter().map(|run| self.store.find(run)).collect()
    }

    /// The device, and the data of runs as they are asked for.
    pub(crate) fn bench(&self) -> anyhow::Result<Bench<'_>> {
        let (device, precision) = self.on.open()?;
        let settings = ModelSettings { precision, ..ModelSettings::default() };
        Ok(Bench { models: self, device, settings, tasks: Vec::new() })
    }

    fn which(&self) -> Which {
        if self.which == "last" { Which::Last } else { Which::Best }
    }
}

/// A device with data.
pub(crate) struct Bench<'a> {
    models: &'a Models,
    pub(crate) device: Box<dyn Device>,
    settings: ModelSettings,
    tasks: Vec<Task>,
}

/// What was found, as it is printed in JSON: by which version, on which device.
#[derive(Serialize)]
struct Printed<'a, T> {
    version: &'static str,
    device: String,
    #[serde(flatten)]
    found: &'a T,
}

impl Bench<'_> {
    /// Prints what was found as JSON.
    pub(crate) fn print<T: Serialize>(&self, found: &T) -> anyhow::Result<()> {
        let (version, device) = (env!("DISSENSUS_VERSION"), self.device.describe());
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
        let found = match &self.models.spec {
            Some(path) => of_study(&Study::read(path)?, wanted)?,
            None => match of_name(wanted)? {
                Some(task) => Some(task),
                None => of_studies(&self.models.store.open()?, wanted)?,
            },
        };
        let Some(task) = found else {
            let hint = paint::strong("hint:");
            let (name, items) = (&wanted.name, wanted.items);
            match &self.models.spec {
                Some(path) => anyhow::bail!(
                    "run {} was trained on other data than {} names: on {name}, {items} items\n\
                     {hint} give the spec or study that it was trained with, and see that its files \
                     are the same",
                    info.id,
                    path.display()
                ),
                None => anyhow::bail!(
                    "the data of run {} are not found again: {name}, {items} items\n{hint} name \
                     the spec or study that it was trained with, as in --spec study.toml",
                    info.id
                ),
            }
        };
        self.tasks.push(task);
        Ok(self.tasks.len() - 1)
    }
}

fn if_same(task: Task, wanted: &DataIdentity) -> Option<Task> {
    task.identity().same_content(wanted).then_some(task)
}

/// A dataset that is known by its name, whole or its first items; and so the one it is judged on.
fn of_name(wanted: &DataIdentity) -> anyhow::Result<Option<Task>> {
    let DataIdentity { name, items, judged_on, .. } = wanted;
    let on = judged_on.as_ref().map(|data| &data.name);
    let known = |name: &String| dissensus_inputs::WITH_PICTURES.contains(&name.as_str());
    if !known(name) || !on.is_none_or(known) {
        return Ok(None);
    }
    let first = Some(*items);
    // Of generated data there are as many as one asks for.
    let tries: &[Option<u64>] = if name == "blends" { &[first] } else { &[None, first] };
    for &items in tries {
        let data = Data::of_dataset(name, items, on.map(String::as_str));
        if let Some(task) = if_same(load(&data)?, wanted) {
            return Ok(Some(task));
        }
    }
    Ok(None)
}

/// What one of the studies of a store was run on.
fn of_studies(store: &Store, wanted: &DataIdentity) -> anyhow::Result<Option<Task>> {
    for name in store.studies()? {
        let Some(text) = store.study(&name)?.read(files::STUDY)? else { continue };
        let text = String::from_utf8_lossy(&text);
        // One that cannot be read, or whose data are gone, may not be the one.
        let found = Study::parse_stored(&text, &name).ok().map(|study| of_study(&study, wanted));
        if let Some(Ok(Some(task))) = found {
            return Ok(Some(task));
        }
    }
    Ok(None)
}

/// The data of a training spec or a study.
fn of_study(study: &Study, wanted: &DataIdentity) -> anyhow::Result<Option<Task>> {
    for data in study.data()? {
        if let Some(task) = if_same(load(&data)?, wanted) {
            return Ok(Some(task));
        }
    }
    Ok(None)
}

/// The first digits of a run, as lists show them.
pub(crate) fn short(id: &str) -> String {
    id.chars().take(8).collect()
}

/// A bar for each piece of work, one after another.
#[derive(Default)]
pub(crate) struct Bars {
    what: String,
    bar: Option<ProgressBar>,
}

impl Bars {
    /// Takes note of a step. `of` says whose work it is.
    pub(crate) fn step(&mut self, of: &str, progress: Progress<'_>) {
        let what =
            if of.is_empty() { progress.what.into() } else { format!("{of}: {}", progress.what) };
        if self.what != what || self.bar.is_none() {
            self.clear();
            self.bar = Some(progress::steps(progress.most, &what));
            self.what = what;
        }
        if let Some(bar) = &self.bar {
            bar.set_length(progress.most as u64);
            bar.set_position(progress.done as u64);
        }
    }

    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Bars {
    fn drop(&mut self) {
        self.clear();
    }
}

/// A number with four significant places.
pub(crate) fn significant(value: f64) -> String {
    rounded(value, 4)
}

/// A number with so many significant places.
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
