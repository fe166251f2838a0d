//! Why something could not be encoded.

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
        /// What was expected, and what was found.
        problem: String,
    },
    /// The input is not what the encoder takes.
    #[error("{0}")]
    Input(String),
    /// The caller asked to stop.
    #[error("stopped before everything was encoded")]
    Stopped,
    /// An error after some items were encoded; [`Cached`](crate::Cached) keeps their vectors.
    #[error("{why}")]
    Partly {
        /// The vectors of the first items.
        done: Encoded,
        /// What went wrong.
        why: Box<EmbedError>,
    },
    /// ONNX Runtime, which runs ONNX models, is missing or cannot be used.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// An embeddings endpoint gave no vectors.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The cache of vectors cannot be used.
    #[error(transparent)]
    Cache(#[from] CacheError),
}
