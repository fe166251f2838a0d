//! What can go wrong.

use std::path::PathBuf;

use crate::onnx::RuntimeError;
use crate::{CacheError, Encoded, EndpointError};

/// Why something could not be encoded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// A file cannot be read.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is not what it should be.
    #[error("{}: {problem}", path.display())]
    Model {
        /// Which.
        path: PathBuf,
        /// What was expected, and what came.
        problem: String,
    },
    /// An encoder was given what it does not take.
    #[error("{0}")]
    Input(String),
    /// The caller said so.
    #[error("stopped before all was encoded")]
    Stopped,
    /// It went wrong after some were encoded. [`Cached`](crate::Cached) keeps these.
    #[error("{why}")]
    Partly {
        /// What was encoded: the first ones of those that were given.
        done: Encoded,
        /// What went wrong.
        why: Box<EmbedError>,
    },
    /// ONNX Runtime, which runs ONNX models, is missing or cannot be used.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// An embeddings endpoint does not do.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The cache of vectors does not do.
    #[error(transparent)]
    Cache(#[from] CacheError),
}
