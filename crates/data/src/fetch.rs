//! Brings a dataset into the cache, from its public sources or from a local mirror.
//!
//! Either way, a file is written in the same steps: its bytes are written to
//! `<path>.part` and hashed as they pass; size and SHA-256 are compared with the catalogue; the
//! file is synced and renamed into place. So a file in the cache is complete and verified, or it is
//! not there. A download that breaks off leaves its part for the next run to resume; wrong bytes
//! are removed at once.

mod archive;
mod download;
mod hub;
mod lock;
mod mirror;
mod part;
mod place;
mod progress;
mod request;
mod source;

use std::path::{Path, PathBuf};
use std::time::Duration;

use dissensus_core::{Progress, thousands};

use crate::Error;
use crate::catalogue::{Dataset, Kind, RemoteFile, Variant};
use crate::digest::{self, Digest};

pub use hub::{FetchedModel, FetchedModelFile, Hub, fetch_model};
use lock::Held;
use place::Place;
use request::Client;
use source::Stash;

/// Where to and where from, and how long to wait.
#[derive(Debug, Clone)]
pub struct Options {
    /// The cache directory; made if it is not there.
    pub cache_dir: PathBuf,
    /// Copy from this local mirror instead of downloading.
    pub from: Option<PathBuf>,
    /// Fetch again what is there already, and discard unfinished downloads.
    pub force: bool,
    /// Replaces scheme and host of every address, as in `http://127.0.0.1:8080`.
    pub base_url: Option<String>,
    /// The hub of models.
    pub hub: Hub,
    /// How often a broken transfer is resumed.
    pub retries: u32,
    /// Pause before the first retry; it doubles with each, up to half a minute.
    pub backoff: Duration,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long a transfer may stand still.
    pub read_timeout: Duration,
    /// How long to wait for another process that fetches into the same cache.
    pub lock_wait: Duration,
}

impl Options {
    /// The usual settings, for this cache directory.
    pub fn new(cache_dir: impl Into<PathBuf>) -> Self {
        Options {
            cache_dir: cache_dir.into(),
            from: None,
            force: false,
            base_url: None,
            hub: Hub::from_env(),
            retries: 4,
            backoff: Duration::from_secs(1),
            connect_timeout: Duration::from_secs(30),
            read_timeout: Duration::from_secs(60),
            lock_wait: Duration::from_secs(3600),
        }
    }
}

/// A dataset that is now in the cache.
#[derive(Debug, Clone)]
pub struct Fetched {
    /// The dataset's name.
    pub name: &'static str,
    /// Its files, in the order of the catalogue.
    pub files: Vec<FetchedFile>,
}

/// A file that is now in the cache, and verified.
#[derive(Debug, Clone)]
pub struct FetchedFile {
    /// Where it lies.
    pub path: PathBuf,
    /// Which of the accepted forms it has.
    pub variant: Variant,
    /// How it got there.
    pub outcome: Outcome,
}

/// How a file got into the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was there, and its digest is right.
    Present,
    Downloaded {
        /// From this address.
        url: String,
        /// The byte from which the download was resumed, if it was.
        resumed_from: Option<u64>,
    },
    /// It was copied from a mirror.
    Copied { from: PathBuf },
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Present => write!(f, "in the cache already"),
            Self::Copied { from } => write!(f, "copied from {}", from.display()),
            Self::Downloaded { url, resumed_from: None } => write!(f, "from {url}"),
            Self::Downloaded { url, resumed_from: Some(bytes) } => {
                write!(f, "from {url}, resumed at {} bytes", thousands(*bytes as usize))
            }
        }
    }
}

/// Brings every file of `dataset` into the cache and verifies it.
///
/// Files that are there and right are left alone, without need of write access or network.
pub fn fetch(
    dataset: &Dataset,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Fetched, Error> {
    if dataset.kind == Kind::Generated {
        return Err(Error::Generated { name: dataset.name.to_owned() });
    }
    let mut job =
        Job { dataset, options, client: Client::new(options), stash: Stash::default(), lock: None };
    let files: Result<Vec<FetchedFile>, Error> =
        dataset.files.iter().map(|file| job.one(file, progress)).collect();
    job.stash.clear();
    Ok(Fetched { name: dataset.name, files: files? })
}

struct Job<'a> {
    dataset: &'a Dataset,
    options: &'a Options,
    client: Client,
    stash: Stash,
    /// Taken with the first file that must be written, held to the end.
    lock: Option<Held>,
}

impl Job<'_> {
    fn one(&mut self, file: &RemoteFile, progress: &dyn Progress) -> Result<FetchedFile, Error> {
        let place = Place::new(&self.options.cache_dir, file.path);
        if let Some(present) = self.present(file, &place)? {
            return Ok(present);
        }
        if self.lock.is_none() {
            let wait = self.options.lock_wait;
            self.lock = Some(lock::take(&self.options.cache_dir, wait, progress)?);
            // The process that held the lock may have fetched this very file.
            if let Some(present) = self.present(file, &place)? {
                return Ok(present);
            }
        }
        place.prepare()?;
        if self.options.force {
            place.discard();
        }
        let (variant, outcome) = match &self.options.from {
            Some(mirror) => mirror::copy(file, mirror, &place, progress)?,
            None => self.try_sources(file, &place, progress)?,
        };
        Ok(FetchedFile { path: place.dest, variant, outcome })
    }

    fn present(&self, file: &RemoteFile, place: &Place) -> Result<Option<FetchedFile>, Error> {
        let size = std::fs::metadata(&place.dest).ok().map(|meta| meta.len());
        if self.options.force || !size.is_some_and(|bytes| file.has_size(bytes)) {
            return Ok(None);
        }
        let digest =
            digest::of_file(&place.dest).map_err(|e| Error::io("reading", &place.dest, e))?;
        Ok(file.variant(&digest.sha256, digest.bytes).map(|variant| FetchedFile {
            path: place.dest.clone(),
            variant,
            outcome: Outcome::Present,
        }))
    }

    fn try_sources(
        &mut self,
        file: &RemoteFile,
        place: &Place,
        progress: &dyn Progress,
    ) -> Result<(Variant, Outcome), Error> {
        let mut tried = Vec::new();
        for source in file.sources {
            let result = source::get(
                file,
                source,
                place,
                &self.client,
                self.options,
                &mut self.stash,
                progress,
            );
            match result {
                Err(e) if e.is_about_the_source() => tried.push(e),
                result => return result,
            }
        }
        if tried.len() > 1 {
            return Err(Error::AllSources { file: file.path.to_owned(), tried });
        }
        Err(tried.pop().unwrap_or_else(|| Error::NoSource {
            name: self.dataset.name.to_owned(),
            file: file.path.to_owned(),
            homepage: self.dataset.homepage.unwrap_or("no page").to_owned(),
            made_by: self.dataset.made_by,
        }))
    }
}

/// The variant that some bytes are, or the error that says they are none.
fn judge(file: &RemoteFile, digest: &Digest, from: &str) -> Result<Variant, Error> {
    file.variant(&digest.sha256, digest.bytes).ok_or_else(|| {
        let expected: Vec<String> = file
            .accepted
            .iter()
            .map(|v| format!("{} ({} bytes, {})", v.sha256, v.bytes, v.origin.word()))
            .collect();
        Error::Checksum {
            file: file.path.to_owned(),
            from: from.to_owned(),
            expected: expected.join(" or "),
            got: format!("{} ({} bytes)", digest.sha256, digest.bytes),
        }
    })
}

/// The accepted sizes, for messages.
fn sizes_in_words(sizes: &[u64]) -> String {
    let words: Vec<String> = sizes.iter().map(u64::to_string).collect();
    words.join(" or ")
}

/// Where the bytes of a download that has begun lie.
pub(crate) fn part_path(cache_dir: &Path, file: &str) -> PathBuf {
    Place::new(cache_dir, file).part
}
