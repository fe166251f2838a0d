//! A store in a bucket: runs and results of stages are pushed to an object store, and pulled from it.
//!
//! ```text
//! s3://BUCKET/PREFIX/runs/ID.VERSION.pack
//! s3://BUCKET/PREFIX/studies/STUDY/stages/STAGE/RUN.csv.VERSION.pack
//! s3://BUCKET/PREFIX/studies/STUDY/study.toml.VERSION.pack
//! ```
//!
//! An object is an [`Item`](dissensus_store::Item) of a store as a pack of its own, under a name that
//! says its version. It is created in one request and never changed, so half a run is never seen, many
//! may push at once, and an interrupted transfer is resumed by what is missing. The list of names says
//! all that a comparison needs: a store of 100,000 runs is compared by 100 requests, and nothing is
//! downloaded twice. Two versions of one run (the same spec, other predictions) are noticed by their
//! names, and neither is moved.
//!
//! What comes out of a bucket is checked as a pack is: names, sizes, checksums, and that it has the
//! version that its name says.
//!
//! `file://` is a folder. `s3://`, `gs://` and `az://` need the feature `cloud`; credentials are taken
//! from the environment, and no error shows one.

mod error;
mod objects;
mod remote;
mod sync;
mod url;

pub use error::RemoteError;
pub use remote::{Pusher, Remote};
pub use sync::{Conflict, Failure, SyncCounts, SyncDirection, SyncFilter, SyncOptions, Synced};
pub use url::is_remote_url;
