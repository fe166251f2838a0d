//! What can go wrong with a cache, and what to do.

use std::path::PathBuf;

/// Why a cache cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// The operating system says no.
    #[error("{what} {}: {source}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// With which file or folder.
        path: PathBuf,
        /// Its words.
        source: std::io::Error,
    },
    /// A file that is no cache of this encoder.
    #[error("{} is not a cache of these vectors: {problem}; remove it, it is made anew", path.display())]
    Foreign {
        /// Which.
        path: PathBuf,
        /// What was expected, and what was found.
        problem: String,
    },
    /// Vectors of another width than those that are there.
    #[error(
        "{} holds vectors of {expected} numbers, {name} gives {found}; an encoder with another \
         output needs another digest, or the file is to be removed",
        path.display()
    )]
    Width {
        /// The file.
        path: PathBuf,
        /// The encoder.
        name: String,
        /// The width in the file.
        expected: usize,
        /// The encoder's.
        found: usize,
    },
    /// An encoder that gives other than a vector for each.
    #[error(
        "{name} gave {found} numbers for {rows} of what it was asked; expected as many vectors of equal width"
    )]
    Rows {
        /// The encoder.
        name: String,
        /// How many it was asked for.
        rows: usize,
        /// How many numbers it gave.
        found: usize,
    },
    /// Numbers that are none.
    #[error("{name} gave a vector with {value}; expected finite numbers")]
    NotFinite {
        /// The encoder.
        name: String,
        /// What it gave.
        value: f32,
    },
    /// An encoder whose digest cannot name a file.
    #[error("the digest of {name} is {digest:?}; expected SHA-256 in 64 hex digits")]
    Digest {
        /// The encoder.
        name: String,
        /// Its digest.
        digest: String,
    },
    /// Another process holds the lock for too long.
    #[error("{} is locked by another process; end it, or try again", lock.display())]
    Busy {
        /// The lock.
        lock: PathBuf,
    },
}
