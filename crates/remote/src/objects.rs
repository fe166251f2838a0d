//! Objects by name: what a bucket must be able to do.

#[cfg(feature = "cloud")]
mod cloud;
mod folder;
#[cfg(feature = "cloud")]
mod http;

use dissensus_io::check_outside;

use crate::RemoteError;
use crate::url::Address;

/// The largest object that is read. Packs of items have no weights.
pub(crate) const LARGEST: u64 = 1 << 30;

/// An object of a bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    /// Its name below the prefix.
    pub(crate) name: String,
    pub(crate) bytes: u64,
}

/// What came of creating an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Created {
    /// It was not there, and is now.
    New,
    /// It was there, and stays.
    Exists,
    /// It was written by a server that knows no conditions; one that was there had the same name, hence
    /// the same version.
    Unconditionally,
}

/// A bucket. Calls block, and may come from many threads.
pub(crate) trait Objects: Send + Sync {
    /// All objects in a folder and the folders below it.
    fn list(&self, folder: &str) -> Result<Vec<Object>, RemoteError>;

    /// The content of an object, of at most [`LARGEST`] bytes.
    fn get(&self, name: &str) -> Result<Vec<u8>, RemoteError>;

    /// Creates an object, whole or not at all.
    fn create(&self, name: &str, content: Vec<u8>) -> Result<Created, RemoteError>;
}

pub(crate) fn open(address: Address) -> Result<Box<dyn Objects>, RemoteError> {
    match address {
        Address::Folder(path) if check_outside(&path).is_err() => {
            Err(RemoteError::BadUrl { reason: "names a folder in a store" })
        }
        Address::Folder(path) => Ok(Box::new(folder::Folder::new(path))),
        #[cfg(feature = "cloud")]
        Address::Bucket { scheme, bucket, prefix } => {
            Ok(Box::new(cloud::Cloud::open(scheme, bucket, prefix)?))
        }
        #[cfg(not(feature = "cloud"))]
        Address::Bucket { scheme, .. } => Err(RemoteError::NoCloud { scheme }),
    }
}
