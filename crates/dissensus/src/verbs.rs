//! Short ways to what people do first: read votes, fit a model.

use std::path::Path;

use dissensus_core::VoteTable;
use dissensus_engine::Device;
use dissensus_inputs::Inputs;
use dissensus_train::{FitOptions, RunPlan, Task, Trained};
use dissensus_votes::ReadOptions;

use crate::Error;

/// The version of this library, with the commit that it was built from where that is known.
pub const VERSION: &str = env!("DISSENSUS_VERSION");

/// The code and the machine, as they are recorded with results.
pub fn environment() -> serde_json::Value {
    serde_json::json!({
        "version": VERSION,
        "system": format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        "cores": std::thread::available_parallelism().map_or(1, usize::from),
    })
}

/// Reads votes from a file of any known format. [`votes::read`](crate::votes::read) also gives
/// what was guessed and what comes with the votes.
pub fn read_votes(path: &Path, options: &ReadOptions) -> Result<VoteTable, Error> {
    Ok(dissensus_votes::read(path, options)?.table)
}

/// Trains a model in memory on votes and inputs, which are matched by id. Items without an input are left
/// out; [`Trained::joined`] says which. [`fit_stored`](crate::fit_stored) also saves, and continues after an
/// interruption.
pub fn fit(
    votes: &VoteTable,
    inputs: &Inputs,
    plan: &RunPlan,
    device: &dyn Device,
    options: &FitOptions<'_>,
) -> Result<Trained, Error> {
    let (task, _) = Task::new(inputs.name(), votes, inputs)?;
    fit_task(&task, plan, device, options)
}

/// Trains a model in memory on a task: votes and inputs with a split that comes with them, or with other
/// data that are evaluated on.
pub fn fit_task(
    task: &Task,
    plan: &RunPlan,
    device: &dyn Device,
    options: &FitOptions<'_>,
) -> Result<Trained, Error> {
    Ok(dissensus_train::fit(task, plan, device, options)?)
}
