//! What can go wrong, each with what was expected, what came, where, and what to do.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No dataset of this name.
    #[error("there is no dataset '{name}'; the known ones are: {known}")]
    UnknownDataset {
        /// What was asked for.
        name: String,
        /// The names there are.
        known: String,
    },

    /// A dataset that is not itself a set of votes.
    #[error("the dataset '{name}' is no single set of votes; those there are: {known}")]
    WithoutVotes {
        /// The dataset.
        name: String,
        /// The sets of votes it has; where it has none, those of all datasets.
        known: String,
    },

    /// Generated data has no files to fetch or to locate.
    #[error("the dataset '{name}' is generated on this machine and has no files to fetch")]
    Generated {
        /// The dataset.
        name: String,
    },

    /// Neither the environment nor the user's home says where the cache is.
    #[error(
        "no cache directory: the home directory is unknown; set DISSENSUS_CACHE to a directory"
    )]
    NoCacheDir,

    /// A dataset is wanted that is not, or not wholly, in the cache.
    #[error("{} is not in the cache ({found}); run `dissensus data fetch {name}`", path.display())]
    NotInCache {
        /// The dataset.
        name: String,
        /// The missing file.
        path: PathBuf,
        /// What is there instead.
        found: String,
    },

    /// No public home is known for the file.
    #[error(
        "no public download of {file} is known; get it from {homepage}, \
         put it at DIR/{file} and fetch again with --from DIR"
    )]
    NoHome {
        /// The file, as in the catalogue.
        file: String,
        /// Where to look.
        homepage: String,
    },

    /// The local mirror lacks a file.
    #[error(
        "{file} is not in the mirror: expected it at {}; \
         a mirror has the same layout as the cache",
        looked.display()
    )]
    MirrorMissing {
        /// The file, as in the catalogue.
        file: String,
        /// Where it was looked for.
        looked: PathBuf,
    },

    /// The bytes are not those of the catalogue.
    #[error(
        "{file} from {from} has SHA-256 {got}; expected {expected}. Nothing was kept. \
         Fetch again; if it stays so, the publisher has changed the file: \
         get the right one by hand and use --from DIR"
    )]
    Checksum {
        /// The file, as in the catalogue.
        file: String,
        /// Address or path it came from.
        from: String,
        /// The digests that are accepted.
        expected: String,
        /// The digest found.
        got: String,
    },

    /// The size cannot be right, whatever the digest.
    #[error(
        "{file} from {from} has {got} bytes; expected {expected}. Nothing was kept. \
         The publisher may have changed the file: get the right one by hand and use --from DIR"
    )]
    Size {
        /// The file, as in the catalogue.
        file: String,
        /// Address or path it came from.
        from: String,
        /// The sizes that are accepted.
        expected: String,
        /// The size announced or found.
        got: String,
    },

    /// The transfer ended before the announced end.
    #[error(
        "{url} broke off after {got} of {announced} bytes; \
         what came is kept: run the same command to go on from there"
    )]
    BrokeOff {
        /// The address.
        url: String,
        /// How many bytes should have come.
        announced: u64,
        /// How many came.
        got: u64,
    },

    /// The server answered with an error.
    #[error("{url} answered with HTTP status {status}; expected 200 or 206. {}", advice(*.status))]
    Http {
        /// The address.
        url: String,
        /// The status code.
        status: u16,
    },

    /// No answer came: name resolution, connection, TLS, time-out.
    #[error(
        "{url} could not be read: {why}. \
         Check the network and try again, or use --from DIR with a local mirror"
    )]
    Transport {
        /// The address.
        url: String,
        /// What happened.
        why: String,
    },

    /// Only http and https are spoken.
    #[error("'{url}' is not an http or https address")]
    BadUrl {
        /// The address.
        url: String,
    },

    /// The archive cannot be read.
    #[error(
        "the archive {url} cannot be read: {why}. Nothing was kept; \
         fetch again, or unpack it by hand and use --from DIR"
    )]
    BadArchive {
        /// The address.
        url: String,
        /// What happened.
        why: String,
    },

    /// The archive lacks the member.
    #[error(
        "the archive {url} has no member '{member}' ({near}). Nothing was kept; \
         unpack it by hand and use --from DIR"
    )]
    NoMember {
        /// The address.
        url: String,
        /// The member that was expected.
        member: String,
        /// Members with the same file name, or the lack of them.
        near: String,
    },

    /// The archive unpacks to more than it may.
    #[error(
        "the archive {url} unpacks '{member}' to more than {limit} bytes; \
         stopped there, nothing was kept"
    )]
    TooBig {
        /// The address.
        url: String,
        /// The member.
        member: String,
        /// The limit in bytes.
        limit: u64,
    },

    /// Every public home failed.
    #[error("{file} could not be had from any of its homes: {}", list(.tried))]
    AllSources {
        /// The file, as in the catalogue.
        file: String,
        /// One error for each home, in order.
        tried: Vec<Error>,
    },

    /// Another process is fetching into the same cache.
    #[error(
        "another process{holder} is fetching into this cache (lock {}); \
         waited {} s for it; let it finish and try again",
        lock.display(), waited.as_secs()
    )]
    Busy {
        /// The lock file.
        lock: PathBuf,
        /// " (pid N)" where known.
        holder: String,
        /// How long we waited.
        waited: Duration,
    },

    /// The disk is full.
    #[error(
        "no space left while {doing} {}; free some, or set DISSENSUS_CACHE to a larger disk",
        path.display()
    )]
    DiskFull {
        /// What was being done.
        doing: &'static str,
        /// To which file.
        path: PathBuf,
    },

    /// Not allowed.
    #[error(
        "no permission while {doing} {}: {source}; \
         change its owner or mode, or set DISSENSUS_CACHE to a directory of your own",
        path.display()
    )]
    Permission {
        /// What was being done.
        doing: &'static str,
        /// To which file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },

    /// Any other error of the file system.
    #[error("failed while {doing} {}: {source}", path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// To which file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
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

    /// Whether another home of the same file may fare better.
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

fn advice(status: u16) -> &'static str {
    match status {
        401 | 403 => "The server refuses; get the file by hand and use --from DIR",
        404 | 410 => "The file has moved; get it by hand and use --from DIR",
        408 | 429 | 500..=599 => "The server is busy or broken; try again later",
        _ => "Get the file by hand and use --from DIR",
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
    fn only_errors_of_the_source_send_us_to_the_next_home() {
        let gone = Error::Http { url: "http://a/b".into(), status: 404 };
        assert!(gone.is_about_the_source());
        assert!(!Error::DiskFull { doing: "writing", path: "x".into() }.is_about_the_source());
    }
}
