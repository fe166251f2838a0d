//! How many runs at a time a card does best: measured once for each kind of run, and remembered.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;

use dissensus_engine::{Device, Settings};
use dissensus_train::{RunPlan, Setup, Task};

use super::{Batch, Run};
use crate::ui::{self, paint, text};

/// Where it is not worth measuring.
const USUAL: usize = 3;
/// Examples of all runs together under which it is not.
const WORTH: u64 = 5_000_000;
/// More are not tried.
const MOST: usize = 6;

/// The lanes for these runs.
pub(super) fn lanes(batch: &Batch<'_>, device: &dyn Device) -> anyhow::Result<usize> {
    let Some(&Run { task, plan, .. }) = batch.runs.first() else { return Ok(1) };
    let visits =
        |run: &Run<'_>| run.plan.training.epochs.saturating_mul(run.task.table().len() as u64);
    let most = batch.runs.len().min(MOST);
    if most < 2 || batch.runs.iter().map(visits).fold(0, u64::saturating_add) < WORTH {
        return Ok(USUAL);
    }
    let name = kind(task, plan, device);
    let mut known = read();
    if let Some(&lanes) = known.get(&name) {
        return Ok(lanes);
    }
    let setup = Setup::new(task, plan)?;
    let settings = Settings {
        precision: plan.precision,
        batch: usize::try_from(plan.training.batch_size)
            .unwrap_or(usize::MAX)
            .min(setup.train.len()),
        optimizer: plan.training.optimizer,
        threads: 1,
    };
    ui::err(&paint::dim("how many runs at a time are best here?"));
    let mut told = |lanes: usize, rate: f64| {
        let rate = text::thousands(rate as u64);
        ui::err(&paint::dim(&format!(" {lanes}: {rate} a second;")));
    };
    let found = device.best_lanes(&setup.network, &setup.dataset, &settings, most, &mut told)?;
    let lanes = found.unwrap_or(USUAL);
    ui::err(&paint::dim(&format!(" taking {lanes} (--lanes to choose)\n")));
    known.insert(name, lanes);
    // A note to oneself: without it, it is measured again.
    let _ = write(&known);
    Ok(lanes)
}

/// What the best number depends on.
fn kind(task: &Task, plan: &RunPlan, device: &dyn Device) -> String {
    let (model, shape) = (plan.model, task.shape());
    let (size, precision) = (plan.training.batch_size, plan.precision);
    let version = env!("CARGO_PKG_VERSION");
    format!("{version}, {}, {model:?}, {shape:?}, batch {size}, {precision:?}", device.describe())
}

fn path() -> Option<PathBuf> {
    Some(dissensus_data::default_cache_dir().ok()?.join("lanes.json"))
}

fn read() -> BTreeMap<String, usize> {
    let text = path().and_then(|path| std::fs::read_to_string(path).ok());
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

fn write(known: &BTreeMap<String, usize>) -> std::io::Result<()> {
    let Some(path) = path() else { return Ok(()) };
    let text = serde_json::to_string_pretty(known)?;
    ui::files::replace(&path, |out| out.write_all(text.as_bytes()))
}
