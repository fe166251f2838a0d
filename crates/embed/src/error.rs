//! Why something could not be encoded.

use std::path::PathBuf;

use crate::onnx::RuntimeError;
use crate::{CacheError, Encoded, EndpointError};

/// Why something could not be encoded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("{}: {problem}", path.display())]
    Model { path: PathBuf, problem: String },
    #[error("{0}")]
    Input(String),
    #[error("stopped before everything was encoded")]
    Stopped,
    /// An error after some items were encoded; [`Cached`](crate::Cached) keeps their vectors.
    #[error("{why}")]
    Partly {
        /// The vectors of the first items.
        done: Encoded,
        why: Box<EmbedError>,
    },
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    #[error(transparent)]
    Cache(#[from] CacheError),
}
