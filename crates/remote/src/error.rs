//! What can go wrong with a bucket. No message has an address that was sent, as it may be signed.

use std::path::PathBuf;

/// Why a bucket was not read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// An address that is not one of a bucket. It is not repeated, as it may have a password.
    #[error(
        "the address of the bucket {reason}; expected s3://BUCKET/PREFIX, gs://…, az://… or file:///FOLDER"
    )]
    BadUrl { reason: &'static str },
    #[error("this dissensus was built without the feature `cloud`, which {scheme}:// needs")]
    NoCloud { scheme: &'static str },
    #[error("{scheme}://{bucket}: {reason}")]
    Settings { scheme: &'static str, bucket: String, reason: String },
    #[error("{doing} {object:?} in {bucket}: {reason}")]
    Request {
        doing: &'static str,
        /// The object, or the folder that was listed.
        object: String,
        bucket: String,
        /// The server's answer, or why there is none.
        reason: String,
    },
    #[error("{object:?} has {bytes} bytes, expected at most {most}")]
    TooLarge { object: String, bytes: u64, most: u64 },
    #[error("{doing} {}: {source}", path.display())]
    Folder { doing: &'static str, path: PathBuf, source: std::io::Error },
    #[error(transparent)]
    Store(#[from] dissensus_store::StoreError),
}
