//! Datasets that point to a server of the test.

use std::path::{Path, PathBuf};
use std::time::Duration;

use dissensus_data::catalogue::{
    Archive, Dataset, Format, Kind, Origin, RemoteFile, Source, Variant,
};
use dissensus_data::fetch::Options;
pub(crate) use dissensus_testing::{Reply, Request, Server};
use sha2::{Digest, Sha256};

/// A server that has this body at hand.
pub(crate) fn serving(
    body: &[u8],
    answer: impl Fn(&[u8], usize, &Request) -> Reply + Send + Sync + 'static,
) -> Server {
    let body = body.to_vec();
    Server::start(move |number, request| answer(&body, number, request))
}

/// Bytes that do not repeat within a file.
pub(crate) fn content(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2).wrapping_add(0x9E37_79B9_7F4A_7C15);
    (0..len)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        })
        .collect()
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

fn leak<T>(value: Vec<T>) -> &'static [T] {
    Box::leak(value.into_boxed_slice())
}

fn text(value: String) -> &'static str {
    Box::leak(value.into_boxed_str())
}

/// The catalogue's entry of a file at `path` with these bytes.
pub(crate) fn file(path: &'static str, bytes: &[u8], sources: Vec<Source>) -> RemoteFile {
    RemoteFile {
        path,
        accepted: leak(vec![Variant {
            sha256: text(sha256(bytes)),
            bytes: bytes.len() as u64,
            origin: Origin::Published,
            note: "made by the test",
        }]),
        sources: leak(sources),
    }
}

pub(crate) fn direct(url: &'static str) -> Source {
    Source::Direct { url }
}

pub(crate) fn member(format: Format, known: Option<&[u8]>, member: &'static str) -> Source {
    let archive: &'static Archive = Box::leak(Box::new(Archive {
        url: "https://example.org/archive",
        file: "archive",
        format,
        known: known.map(|bytes| (bytes.len() as u64, text(sha256(bytes)))),
    }));
    Source::Member { archive, member }
}

pub(crate) fn dataset(files: Vec<RemoteFile>) -> Dataset {
    Dataset {
        name: "made-up",
        title: "A dataset of the tests",
        what: "nothing",
        licence: "none",
        homepage: Some("https://example.org/home"),
        citation: "none",
        kind: Kind::Fetched,
        made_by: None,
        files: leak(files),
        votes: &[],
    }
}

/// A dataset of the one file `a/data.bin`, at one address.
pub(crate) fn single(bytes: &[u8]) -> Dataset {
    dataset(vec![file("a/data.bin", bytes, vec![direct("https://example.org/data.bin")])])
}

/// Settings under which no test waits long.
pub(crate) fn options(cache: &Path, server: Option<&Server>) -> Options {
    let mut options = Options::new(cache);
    options.base_url = server.map(|s| s.base.clone());
    options.retries = 3;
    options.backoff = Duration::from_millis(1);
    options.connect_timeout = Duration::from_secs(5);
    options.read_timeout = Duration::from_secs(5);
    options.lock_wait = Duration::from_secs(5);
    options
}

/// What [`files_below`] finds in a clean cache.
pub(crate) const NOTHING: [PathBuf; 0] = [];

/// Every file below a directory, except the lock that every cache keeps.
pub(crate) fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.file_name().unwrap() != ".lock" {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
