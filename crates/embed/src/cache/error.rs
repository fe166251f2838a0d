//! What can go wrong with a cache, and what to do.

use std::path::PathBuf;

/// Why a cache cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    #[error("{what} {}: {source}", path.display())]
    Io { what: &'static str, path: PathBuf, source: std::io::Error },
    #[error("{} is not a cache of these vectors: {problem}; remove it, it is made anew", path.display())]
    Foreign { path: PathBuf, problem: String },
    #[error(
        "{} holds vectors of {expected} numbers, {name} gives {found}; an encoder with another \
         output needs another digest, or the file is to be removed",
        path.display()
    )]
    Width { path: PathBuf, name: String, expected: usize, found: usize },
    #[error(
        "{name} gave {found} numbers for {rows} of what it was asked; expected as many vectors of equal width"
    )]
    Rows { name: String, rows: usize, found: usize },
    #[error("{name} gave a vector with {value}; expected finite numbers")]
    NotFinite { name: String, value: f32 },
    #[error("the digest of {name} is {digest:?}; expected SHA-256 in 64 hex digits")]
    Digest { name: String, digest: String },
    #[error("{} is locked by another process; end it, or try again", lock.display())]
    Busy { lock: PathBuf },
}
