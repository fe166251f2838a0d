//! Downloads, by the names that specs and commands use.

use dissensus_core::Progress;
use dissensus_data::catalogue::Kind;
use dissensus_data::{HUB_PREFIX, HubModel, Options, fetch, fetch_model, find, find_votes};
use dissensus_train::spec::{Data, DataSource};

use crate::ENCODERS;

/// Downloads the data of a spec into the cache: the votes, the dataset for evaluation, the encoder.
pub fn fetch_data(
    data: &Data,
    options: &Options,
    progress: &dyn Progress,
) -> Result<(), dissensus_data::Error> {
    if let DataSource::Dataset(name) = &data.source {
        fetch_named(name, options, progress)?;
    }
    data.evaluate_on.iter().try_for_each(|name| fetch_named(name, options, progress))?;
    match data.encoder.as_deref() {
        Some(name) if name.starts_with(HUB_PREFIX) => {
            let model: HubModel = name.parse()?;
            fetch_model(&model, options, progress).map(drop)
        }
        Some(name) if ENCODERS.contains(&name) => fetch_named(name, options, progress),
        _ => Ok(()),
    }
}

/// Downloads a dataset or an encoder by its name, or the dataset that a set of votes belongs to.
/// Another name, such as a path, needs no download.
pub fn fetch_named(
    name: &str,
    options: &Options,
    progress: &dyn Progress,
) -> Result<(), dissensus_data::Error> {
    match find(name).or_else(|_| find_votes(name).map(|(dataset, _)| dataset)) {
        Ok(dataset) if dataset.kind == Kind::Fetched => fetch(dataset, options, progress).map(drop),
        _ => Ok(()),
    }
}
