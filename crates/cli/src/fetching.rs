//! Downloads what a study needs before it is run.

use std::path::PathBuf;

use dissensus::data::{Error as DataError, Options, default_cache_dir};
use dissensus::inputs::InputError;
use dissensus::train::spec::Data;
use dissensus::{DataError as LoadDataError, fetch_data, fetch_named};

use crate::ui::errors::{causes, words};
use crate::ui::progress::Terminal;

/// Whether and from where to download.
#[derive(clap::Args, Clone)]
pub(crate) struct Fetching {
    /// Download datasets and encoders that are not in the cache
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
                "{}; run `dissensus data fetch {name}`, or give --fetch, which downloads everything \
                 that the study needs",
                words(&error)
            ),
            _ => error,
        }
    }

    /// Downloads the data of a run, where asked to.
    pub(crate) fn data(&self, data: &Data) -> anyhow::Result<()> {
        if self.fetch {
            fetch_data(data, &self.options()?, &Terminal::default())?;
        }
        Ok(())
    }

    /// Downloads a dataset by its name, where asked to.
    pub(crate) fn named(&self, name: &str) -> anyhow::Result<()> {
        if self.fetch {
            fetch_named(name, &self.options()?, &Terminal::default())?;
        }
        Ok(())
    }

    fn options(&self) -> anyhow::Result<Options> {
        Ok(Options { from: self.from.clone(), ..Options::new(&default_cache_dir()?) })
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
