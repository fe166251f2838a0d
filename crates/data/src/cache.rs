//! Where the cache is, what is in it, and where a dataset's files lie.
//!
//! A listing looks at sizes only, so that it is instant. What is used has the digest of the catalogue:
//! [`locate`] and [`locate_votes`] check it, once for every file that does not change.

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;

use crate::catalogue::{DATASETS, Dataset, Kind, RemoteFile, find, find_votes};
use crate::{Error, verified};

/// The environment variable that overrides the place of the cache.
pub const CACHE_VARIABLE: &str = "DISSENSUS_CACHE";

/// `$DISSENSUS_CACHE`, or `dissensus` in the user's cache directory.
pub fn default_cache_dir() -> Result<PathBuf, Error> {
    if let Some(dir) = std::env::var_os(CACHE_VARIABLE).filter(|v| !v.is_empty()) {
        return Ok(dir.into());
    }
    let base = etcetera::choose_base_strategy().map_err(|_| Error::NoCacheDir)?;
    Ok(base.cache_dir().join("dissensus"))
}

/// What the cache holds of one dataset.
#[derive(Debug, Clone)]
pub struct Holding {
    pub dataset: &'static Dataset,
    /// One entry for each of its files, in the order of the catalogue.
    pub files: Vec<FileHolding>,
}

impl std::fmt::Display for Holding {
    /// How many files there are, their size, and how many are in the cache.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let all = self.files.len();
        let bytes: u64 = self.files.iter().filter_map(|file| file.file.bytes()).sum();
        let plural = if all == 1 { "" } else { "s" };
        write!(f, "{all} file{plural}, {:.1} MB; ", bytes as f64 / 1e6)?;
        match self.files.iter().filter(|file| file.state == State::Present).count() {
            0 => write!(f, "not in the cache"),
            n if n == all => write!(f, "in the cache"),
            n => write!(f, "{n} of {all} in the cache"),
        }
    }
}

/// What the cache holds of one file.
#[derive(Debug, Clone)]
pub struct FileHolding {
    /// The file in the catalogue.
    pub file: &'static RemoteFile,
    /// Its place in the cache.
    pub path: PathBuf,
    /// Whether it is there.
    pub state: State,
}

/// Whether a file is in the cache, judged by its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Not there.
    Missing,
    /// Not there, but a download has begun and can be resumed.
    Begun { bytes: u64 },
    /// There, with an accepted size.
    Present,
    /// There, with a size that no accepted variant has.
    WrongSize { bytes: u64 },
}

/// What the cache holds of every dataset, in the order of the catalogue.
pub fn status(cache_dir: &Path) -> Vec<Holding> {
    DATASETS
        .iter()
        .map(|dataset| Holding {
            dataset,
            files: dataset
                .files
                .iter()
                .map(|file| FileHolding {
                    file,
                    path: cache_dir.join(file.path),
                    state: state(cache_dir, file),
                })
                .collect(),
        })
        .collect()
}

/// The paths of a dataset's files, in the order of the catalogue, if all are in the cache.
pub fn locate(name: &str, cache_dir: &Path) -> Result<Vec<PathBuf>, Error> {
    let dataset = find(name)?;
    if dataset.kind == Kind::Generated {
        return Err(Error::Generated { name: name.to_owned() });
    }
    dataset.files.iter().map(|file| present(dataset.name, file, cache_dir)).collect()
}

/// The paths of the files of a set of votes, in its order, if all are in the cache. Other files of
/// the dataset need not be there.
pub fn locate_votes(name: &str, cache_dir: &Path) -> Result<Vec<PathBuf>, Error> {
    let (dataset, set) = find_votes(name)?;
    let files = set.files.iter().filter_map(|path| dataset.files.iter().find(|f| f.path == *path));
    files.map(|file| present(dataset.name, file, cache_dir)).collect()
}

fn present(name: &str, file: &RemoteFile, cache_dir: &Path) -> Result<PathBuf, Error> {
    let path = cache_dir.join(file.path);
    let found = match state(cache_dir, file) {
        State::Present => {
            let sha256 = verified::sha256(cache_dir, file.path)
                .map_err(|error| Error::io("reading", &path, error))?;
            return match file.accepted.iter().any(|variant| variant.sha256 == sha256) {
                true => Ok(path),
                false => Err(Error::Damaged { name: name.to_owned(), path, sha256 }),
            };
        }
        State::Missing => "nothing there".to_owned(),
        State::Begun { bytes } => format!("{bytes} bytes of a download begun"),
        State::WrongSize { bytes } => format!("a file of {bytes} bytes there"),
    };
    Err(Error::NotInCache { name: name.to_owned(), path, found })
}

fn state(cache_dir: &Path, file: &RemoteFile) -> State {
    let size = |path: &Path| {
        let meta = std::fs::metadata(path).ok()?;
        meta.is_file().then_some(meta.len())
    };
    match size(&cache_dir.join(file.path)) {
        Some(bytes) if file.has_size(bytes) => State::Present,
        Some(bytes) => State::WrongSize { bytes },
        None => match size(&crate::fetch::part_path(cache_dir, file.path)) {
            Some(bytes) => State::Begun { bytes },
            None => State::Missing,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_cache_holds_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let holdings = status(dir.path());
        assert_eq!(holdings.len(), DATASETS.len());
        let mut files = holdings.iter().flat_map(|h| &h.files);
        assert!(files.all(|f| f.state == State::Missing));

        let error = locate("svhn", dir.path()).unwrap_err();
        assert!(matches!(&error, Error::NotInCache { name, .. } if name == "svhn"), "{error}");
        assert!(error.to_string().contains("test_32x32.mat"), "{error}");
        assert!(matches!(locate("blends", dir.path()), Err(Error::Generated { .. })));
        assert!(matches!(locate("nope", dir.path()), Err(Error::UnknownDataset { .. })));
        // A part is fetched with its dataset.
        let error = locate_votes("chaosnli-mnli", dir.path()).unwrap_err();
        assert!(matches!(&error, Error::NotInCache { name, .. } if name == "chaosnli"), "{error}");
        assert!(error.to_string().contains("chaosNLI_mnli_m.jsonl"), "{error}");
    }

    #[test]
    fn a_flipped_byte_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("cifar10h");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("cifar10h-counts.npy"), vec![0; 800_128]).unwrap();
        let error = locate_votes("cifar10h", dir.path()).unwrap_err();
        assert!(matches!(&error, Error::Damaged { name, .. } if name == "cifar10h"), "{error}");
        let message = error.to_string();
        assert!(message.contains("cifar10h-counts.npy is damaged"), "{message}");
        assert!(message.contains("fetch the dataset 'cifar10h' again"), "{message}");
    }

    #[test]
    fn sizes_tell_present_begun_and_wrong_apart() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("cifar10h");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("cifar10h-counts.npy"), vec![0; 800_128]).unwrap();
        std::fs::write(folder.join("cifar10h-probs.npy"), b"short").unwrap();
        std::fs::create_dir(dir.path().join("cifar10")).unwrap();
        std::fs::write(dir.path().join("cifar10/test_batch.bin.part"), b"1234").unwrap();

        let holdings = status(dir.path());
        let cifar10h = holdings.iter().find(|h| h.dataset.name == "cifar10h").unwrap();
        let states: Vec<State> = cifar10h.files.iter().map(|f| f.state).collect();
        assert_eq!(
            states,
            [State::Present, State::WrongSize { bytes: 5 }, State::Begun { bytes: 4 }]
        );
    }
}
