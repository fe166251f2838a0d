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
    BadUrl {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A kind of bucket that this build does not know.
    #[error("this dissensus was built without the feature `cloud`, which {scheme}:// needs")]
    NoCloud {
        /// The scheme of the address.
        scheme: &'static str,
    },
    /// Settings that no client can be made of.
    #[error("{scheme}://{bucket}: {reason}")]
    Settings {
        /// The scheme of the address.
        scheme: &'static str,
        /// The bucket.
        bucket: String,
        /// What is wrong.
        reason: String,
    },
    /// A request that failed, after all attempts.
    #[error("{doing} {object:?} in {bucket}: {reason}")]
    Request {
        /// What was done.
        doing: &'static str,
        /// The object, or the folder that was listed.
        object: String,
        /// The bucket, with its scheme.
        bucket: String,
        /// The server's answer, or why there is none.
        reason: String,
    },
    /// An object that is larger than any pack of an item.
    #[error("{object:?} has {bytes} bytes, expected at most {most}")]
    TooLarge {
        /// The object.
        object: String,
        /// Its size.
        bytes: u64,
        /// The largest size.
        most: u64,
    },
    /// A folder that is used as a bucket.
    #[error("{doing} {}: {source}", path.display())]
    Folder {
        /// What was done.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The store on this side.
    #[error(transparent)]
    Store(#[from] dissensus_store::StoreError),
}
