//! What can go wrong: what was expected, what was found, and where. What a user can do about it is
//! for the program to say.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dissensus_core::did_you_mean;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(
        "there is no dataset '{name}'{}; the known ones are: {known}",
        did_you_mean(.name, .known.split(", "))
    )]
    UnknownDataset { name: String, known: String },

    #[error("the dataset '{name}' is not one set of votes; the known sets are: {known}")]
    WithoutVotes {
        name: String,
        /// The sets of votes it has; where it has none, those of all datasets.
        known: String,
    },

    #[error("the dataset '{name}' is generated on this machine and has no files to fetch")]
    Generated { name: String },

    #[error(
        "no cache directory: the home directory is unknown; set DISSENSUS_CACHE to a directory"
    )]
    NoCacheDir,

    #[error("{} is not in the cache ({found})", path.display())]
    NotInCache { name: String, path: PathBuf, found: String },

    #[error(
        "{} is damaged: its SHA-256 is {sha256}, which is none that is known; fetch {} again",
        path.display(), called(name)
    )]
    Damaged { name: String, path: PathBuf, sha256: String },

    #[error("no public download of {file} is known; it is described at {homepage}")]
    NoSource {
        name: String,
        /// The file, as in the catalogue.
        file: String,
        homepage: String,
        /// The script of the repository that makes the file from public ones, where there is one.
        made_by: Option<&'static str>,
    },

    #[error(
        "{file} is not in the mirror: expected it at {}; \
         a mirror has the same layout as the cache",
        looked.display()
    )]
    MirrorMissing {
        /// The file, as in the catalogue.
        file: String,
        looked: PathBuf,
    },

    #[error("{file} from {from} has the digest {got}; expected {expected}. Nothing was kept")]
    Checksum {
        /// The file, as in the catalogue.
        file: String,
        /// Address or path it came from.
        from: String,
        expected: String,
        got: String,
    },

    #[error("{file} from {from} has {got} bytes; expected {expected}. Nothing was kept")]
    Size {
        /// The file, as in the catalogue.
        file: String,
        /// Address or path it came from.
        from: String,
        expected: String,
        got: String,
    },

    #[error(
        "the download of {url} broke off after {got} of {announced} bytes, which are kept for \
         the next attempt"
    )]
    BrokeOff {
        url: String,
        /// How many bytes should have come.
        announced: u64,
        got: u64,
    },

    #[error("{url} answered with HTTP status {status}; expected 200 or 206")]
    Http { url: String, status: u16 },

    /// No answer came: name resolution, connection, TLS, time-out.
    #[error("{url} could not be read: {why}")]
    Transport { url: String, why: String },

    #[error("'{url}' is not an http or https address")]
    BadUrl { url: String },

    #[error("the archive {url} cannot be read: {why}. Nothing was kept")]
    BadArchive { url: String, why: String },

    #[error("the archive {url} has no member '{member}' ({near}). Nothing was kept")]
    NoMember {
        url: String,
        member: String,
        /// Members with the same file name, or the lack of them.
        near: String,
    },

    #[error(
        "the archive {url} unpacks '{member}' to more than {limit} bytes; \
         stopped there, nothing was kept"
    )]
    TooBig { url: String, member: String, limit: u64 },

    #[error("{file} could not be downloaded from any source: {}", list(.tried))]
    AllSources {
        /// The file, as in the catalogue.
        file: String,
        /// One error per source, in order.
        tried: Vec<Error>,
    },

    #[error(
        "another process{holder} is fetching into this cache (lock {}); \
         waited {} s for it; let it finish and try again",
        lock.display(), waited.as_secs()
    )]
    Busy { lock: PathBuf, holder: String, waited: Duration },

    #[error(
        "no space left while {doing} {}; free some, or set DISSENSUS_CACHE to a larger disk",
        path.display()
    )]
    DiskFull { doing: &'static str, path: PathBuf },

    #[error(
        "no permission while {doing} {}: {source}; \
         change its owner or mode, or set DISSENSUS_CACHE to a directory of your own",
        path.display()
    )]
    Permission { doing: &'static str, path: PathBuf, source: io::Error },

    #[error("{name:?} does not name a model of the hub: {problem}")]
    HubName { name: String, problem: &'static str },

    #[error(
        "the hub has no {} of the model {repo} at {revision}",
        file.as_deref().unwrap_or("files")
    )]
    HubMissing {
        repo: String,
        revision: String,
        /// The file that an encoder needs; `None` where the model or the revision is not there.
        file: Option<String>,
    },

    /// The hub does not give the model to us: it is private, must be agreed to, or is not there.
    #[error(
        "the hub refuses the model {repo} (HTTP status {status}, {} a token)",
        if *token { "with" } else { "without" }
    )]
    HubAccess { repo: String, status: u16, token: bool },

    #[error("{url}: {problem}; nothing was kept")]
    HubAnswer { url: String, problem: String },

    #[error("failed while {doing} {}: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
}

impl Error {
    /// Names an error of the file system by its kind.
    pub(crate) fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Error::DiskFull { doing, path }
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Error::Permission { doing, path, source }
            }
            _ => Error::Io { doing, path, source },
        }
    }

    /// Whether another source of the same file may do better.
    pub(crate) fn is_about_the_source(&self) -> bool {
        matches!(
            self,
            Error::Checksum { .. }
                | Error::Size { .. }
                | Error::BrokeOff { .. }
                | Error::Http { .. }
                | Error::Transport { .. }
                | Error::BadUrl { .. }
                | Error::BadArchive { .. }
                | Error::NoMember { .. }
                | Error::TooBig { .. }
        )
    }
}

/// A dataset, or a model of the hub.
fn called(name: &str) -> String {
    match name.starts_with(crate::hub::PREFIX) {
        true => format!("the model {name}"),
        false => format!("the dataset '{name}'"),
    }
}

fn list(errors: &[Error]) -> String {
    let lines: Vec<String> =
        errors.iter().enumerate().map(|(i, e)| format!("({}) {e}", i + 1)).collect();
    lines.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_file_system_are_named() {
        let at = Path::new("cache/x.part");
        let full = Error::io("writing", at, io::ErrorKind::StorageFull.into());
        assert!(full.to_string().starts_with("no space left while writing cache/x.part"));
        let denied = Error::io("creating", at, io::ErrorKind::PermissionDenied.into());
        assert!(denied.to_string().starts_with("no permission while creating cache/x.part"));
        let other = Error::io("reading", at, io::ErrorKind::NotADirectory.into());
        assert!(matches!(other, Error::Io { .. }));
    }

    #[test]
    fn only_errors_of_the_source_lead_to_the_next_one() {
        let gone = Error::Http { url: "http://a/b".into(), status: 404 };
        assert!(gone.is_about_the_source());
        assert!(!Error::DiskFull { doing: "writing", path: "x".into() }.is_about_the_source());
    }
}
