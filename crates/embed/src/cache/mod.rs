//! Vectors that were made once: by encoder, and by what was encoded.
//!
//! A [`Cache`] is a folder with a file for every encoder, named by its digest. [`Cached`] is an
//! encoder that asks another one only for what is not there, and writes down what it gets block by
//! block, so that work that ends early is not lost. A vector comes back with the bits it went in
//! with.
//!
//! ```text
//! DIGEST.vectors   header: "dissvec1", its length, width, encoder digest, encoder name, CRC-32C
//!                  record: SHA-256 of the text or image, width × f32, CRC-32C of both
//!                  record: …                                  (numbers little-endian)
//! DIGEST.lock      locked by whoever appends
//! ```
//!
//! Records are only ever appended, under the lock, after what others have appended meanwhile; so
//! any number of processes may share a folder. A last record that is torn, by a kill or a full
//! disk, is overwritten; one that is damaged elsewhere is as good as not there.

mod cached;
mod error;
mod file;
mod folder;
mod key;
mod layout;

pub use cached::{Cached, Stats};
pub use error::CacheError;
pub use folder::Cache;
