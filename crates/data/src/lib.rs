//! Known datasets: what they are, where they live, and how they come to this machine.
//!
//! - [`catalogue`] is the one list of datasets, with licence, citation, homes and checksums;
//! - [`fetch`](mod@fetch) brings a dataset into the cache, from its public home or from a local
//!   mirror, resumably, and never keeps a byte whose SHA-256 is not in the catalogue;
//! - [`cache`] says what is in the cache and where a dataset's files lie.
//!
//! The crate prints nothing; a fetch reports to a [`Progress`](dissensus_core::Progress).

pub mod blends;
pub mod cache;
pub mod catalogue;
mod digest;
mod error;
pub mod fetch;
mod hub;

pub use cache::{default_cache_dir, locate, locate_votes, status};
pub use catalogue::{DATASETS, Dataset, VoteSet, find, find_votes};
pub use error::Error;
pub use fetch::{Fetched, FetchedModel, Hub, Options, fetch, fetch_model};
pub use hub::{HubModel, LocatedModel, PREFIX as HUB_PREFIX, locate_model};
