//! Getting what a study needs, before it is needed.

use std::path::PathBuf;

use dissensus::data::catalogue::Kind;
use dissensus::data::{
    Dataset, Error as DataError, HUB_PREFIX, HubModel, Options, default_cache_dir, fetch,
    fetch_model, find, find_votes,
};
use dissensus::inputs::InputError;
use dissensus::train::spec::{Data, DataSource};
use dissensus::{DataError as LoadDataError, ENCODERS};

use crate::ui::errors::{causes, words};
use crate::ui::progress::FetchBars;

/// Whether, and from where.
#[derive(clap::Args, Clone)]
pub(crate) struct Fetching {
    /// Get the data sets and encoders that are not in the cache yet, with checksums
    #[arg(long)]
    fetch: bool,
    /// With --fetch: take the files from this folder instead of the network
    #[arg(long, value_name = "DIR", env = "DISSENSUS_MIRROR")]
    from: Option<PathBuf>,
}

impl Fetching {
    /// An error that says to fetch something says that all of it can be fetched, too.
    pub(crate) fn hinted(&self, error: anyhow::Error) -> anyhow::Error {
        match missing(&error) {
            Some(name) if !self.fetch => anyhow::anyhow!(
                "{}; run `dissensus data fetch {name}`, or give --fetch, which gets all that the \
                 study needs",
                words(&error)
            ),
            _ => error,
        }
    }

    /// The data of a run: the votes, the dataset for evaluation, the encoder.
    pub(crate) fn data(&self, data: &Data) -> anyhow::Result<()> {
        if let DataSource::Dataset(name) = &data.source {
            self.set(name)?;
        }
        data.evaluate_on.iter().try_for_each(|name| self.set(name))?;
        match data.encoder.as_deref() {
            Some(name) if name.starts_with(HUB_PREFIX) => self.model(&name.parse()?),
            Some(name) if ENCODERS.contains(&name) => self.set(name),
            _ => Ok(()),
        }
    }

    /// A data set or an encoder by its name, or the data set of a set of votes. A name that is none
    /// of these is left to those who need it.
    pub(crate) fn set(&self, name: &str) -> anyhow::Result<()> {
        let found = find(name).or_else(|_| find_votes(name).map(|(dataset, _)| dataset));
        match found {
            Ok(dataset) if self.fetch && dataset.kind == Kind::Fetched => self.get(dataset),
            _ => Ok(()),
        }
    }

    /// A model of the hub.
    fn model(&self, model: &HubModel) -> anyhow::Result<()> {
        if self.fetch {
            fetch_model(model, &self.options()?, &FetchBars::default())?;
        }
        Ok(())
    }

    fn options(&self) -> anyhow::Result<Options> {
        Ok(Options { from: self.from.clone(), ..Options::new(&default_cache_dir()?) })
    }

    fn get(&self, dataset: &Dataset) -> anyhow::Result<()> {
        fetch(dataset, &self.options()?, &FetchBars::default())?;
        Ok(())
    }
}

/// The dataset that an error says is not in the cache.
fn missing(error: &anyhow::Error) -> Option<String> {
    let name = |error: &DataError| match error {
        DataError::NotInCache { name, .. } => Some(name.clone()),
        _ => None,
    };
    causes(error).into_iter().find_map(|cause| {
        match (cause.downcast_ref::<InputError>(), cause.downcast_ref::<LoadDataError>()) {
            (Some(InputError::Data(error)), _) | (_, Some(LoadDataError::Catalogue(error))) => {
                name(error)
            }
            (_, Some(LoadDataError::Inputs(InputError::Data(error)))) => name(error),
            _ => cause.downcast_ref().and_then(name),
        }
    })
}
