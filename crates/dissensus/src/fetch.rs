//! Datasets, encoders and models brought into the cache by name.

use std::path::PathBuf;

use dissensus_core::Progress;
use dissensus_data::blends::Settings;
use dissensus_data::catalogue::Kind;
use dissensus_data::fetch::Outcome;
use dissensus_data::{Dataset, HUB_PREFIX, HubModel, Options, fetch, fetch_model, find};

use crate::{BLENDS_FILES, Error, save_blends};

/// What can be brought into the cache by its name.
#[derive(Clone, Debug)]
pub enum Fetchable {
    /// A dataset or an encoder of the catalogue.
    Dataset(&'static Dataset),
    /// A model of the hub.
    Model(HubModel),
}

/// A file that is now in the cache.
#[derive(Clone, Debug)]
pub struct CachedFile {
    /// Where it lies.
    pub path: PathBuf,
    /// How it came there; `None` for generated data.
    pub outcome: Option<Outcome>,
    /// Its SHA-256; empty for generated data.
    pub sha256: String,
    /// What is said about the file in the catalogue.
    pub note: Option<&'static str>,
}

impl Fetchable {
    /// The dataset, encoder or model of this name; nothing is downloaded.
    pub fn named(name: &str) -> Result<Self, Error> {
        Ok(match name.starts_with(HUB_PREFIX) {
            true => Self::Model(name.parse()?),
            false => Self::Dataset(find(name)?),
        })
    }

    /// Brings its files into the cache, or generates them.
    pub fn fetch(
        &self,
        options: &Options,
        progress: &dyn Progress,
    ) -> Result<Vec<CachedFile>, Error> {
        match self {
            Self::Model(model) => {
                let files = fetch_model(model, options, progress)?.files.into_iter();
                Ok(files
                    .map(|file| CachedFile {
                        path: file.path,
                        outcome: Some(file.outcome),
                        sha256: file.sha256,
                        note: None,
                    })
                    .collect())
            }
            Self::Dataset(dataset) if dataset.kind == Kind::Generated => {
                let folder = options.cache_dir.join(dataset.name);
                let paths = BLENDS_FILES.map(|file| folder.join(file));
                if options.force || !paths.iter().all(|path| path.exists()) {
                    save_blends(&Settings::default().check()?.generate()?, &folder, true)?;
                }
                let file =
                    |path| CachedFile { path, outcome: None, sha256: String::new(), note: None };
                Ok(paths.map(file).to_vec())
            }
            Self::Dataset(dataset) => {
                let files = fetch(dataset, options, progress)?.files.into_iter();
                Ok(files
                    .map(|file| CachedFile {
                        path: file.path,
                        outcome: Some(file.outcome),
                        sha256: file.variant.sha256.to_owned(),
                        note: Some(file.variant.note),
                    })
                    .collect())
            }
        }
    }
}
