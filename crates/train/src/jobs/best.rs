//! How many runs at once a GPU does best: measured once for each kind of run, and kept in the cache.

use std::collections::BTreeMap;

use dissensus_core::Event;
use dissensus_engine::{Device, Settings};

use super::{JobOptions, RunJob};
use crate::{RunPlan, Setup, Task, TrainError};

/// Where measuring is not worth its time.
const USUAL: usize = 3;
/// Examples of all runs together below which it is not.
const WORTH: u64 = 5_000_000;
/// More are not tried.
const MOST: usize = 6;
/// The file in the cache folder.
const FILE: &str = "lanes.json";

/// How many of these runs to train at once.
pub(super) fn jobs_at_once(
    jobs: &[RunJob<'_>],
    options: &JobOptions<'_>,
) -> Result<usize, TrainError> {
    let Some(&RunJob { task, plan, .. }) = jobs.first() else { return Ok(1) };
    let visits =
        |job: &RunJob<'_>| job.plan.training.epochs.saturating_mul(job.task.table().len() as u64);
    let most = jobs.len().min(MOST);
    if most < 2 || jobs.iter().map(visits).fold(0, u64::saturating_add) < WORTH {
        return Ok(USUAL);
    }
    let device = options.device.device();
    let name = kind(task, plan, device);
    let kept = options.device.read_cache(FILE);
    let mut known: BTreeMap<String, usize> =
        kept.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    if let Some(&at_once) = known.get(&name) {
        return Ok(at_once);
    }
    let setup = Setup::new(task, plan)?;
    let settings = Settings {
        precision: plan.precision,
        batch: usize::try_from(plan.training.batch_size).unwrap_or(usize::MAX).min(setup.visits()),
        optimizer: plan.training.optimizer,
        threads: 1,
    };
    let note = |text: &str| options.progress.report(Event::Note(text));
    note("measuring how many runs at once are fastest");
    let mut seen = |at_once: usize, rate: f64| {
        note(&format!("{at_once} at once: {rate:.0} examples per second"));
    };
    let found = device.best_lanes(&setup.network, &setup.dataset, &settings, most, &mut seen)?;
    let at_once = found.unwrap_or(USUAL);
    note(&format!("training {at_once} runs at once"));
    known.insert(name, at_once);
    // Where it cannot be kept, it is measured again.
    if let Ok(text) = serde_json::to_string_pretty(&known) {
        options.device.write_cache(FILE, &text);
    }
    Ok(at_once)
}

/// What the best number depends on.
fn kind(task: &Task, plan: &RunPlan, device: &dyn Device) -> String {
    let (model, shape) = (&plan.model, task.shape());
    let (size, precision) = (plan.training.batch_size, plan.precision);
    let version = env!("CARGO_PKG_VERSION");
    format!("{version}, {}, {model:?}, {shape:?}, batch {size}, {precision:?}", device.describe())
}
