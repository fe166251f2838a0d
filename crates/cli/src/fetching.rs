//! Getting what a study needs, before it is needed.

use std::path::PathBuf;

use dissensus_data::catalogue::Kind;
use dissensus_data::{Dataset, Options, default_cache_dir, fetch, find, find_votes};
use dissensus_train::spec::{Data, DataSource};

use crate::training::ENCODERS;
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
        let said = format!("{error:#}");
        match !self.fetch && said.contains("dissensus data fetch") {
            true => anyhow::anyhow!("{said}, or give --fetch, which gets all that the study needs"),
            false => error,
        }
    }

    /// The data of a run: the votes, the dataset for evaluation, the encoder.
    pub(crate) fn data(&self, data: &Data) -> anyhow::Result<()> {
        if let DataSource::Dataset(name) = &data.source {
            self.set(name)?;
        }
        data.evaluate_on.iter().try_for_each(|name| self.set(name))?;
        let encoder = data.encoder.as_deref().filter(|name| ENCODERS.contains(name));
        encoder.map_or(Ok(()), |name| self.set(name))
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

    fn get(&self, dataset: &Dataset) -> anyhow::Result<()> {
        let options = Options { from: self.from.clone(), ..Options::new(&default_cache_dir()?) };
        fetch(dataset, &options, &mut FetchBars::default())?;
        Ok(())
    }
}
