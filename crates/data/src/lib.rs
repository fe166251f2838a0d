//! Known datasets and encoders: what they are, where they can be downloaded, and where they are on
//! this machine.
//!
//! - [`catalogue`] is the one list of datasets, with licence, citation, sources and checksums;
//! - [`fetch`](mod@fetch) brings a dataset into the cache, from its public source or from a local
//!   mirror; downloads are resumed, and a file whose SHA-256 is not in the catalogue is not kept;
//! - [`HubModel`] and [`fetch_model`] do the same for models of the Hugging Face hub;
//! - [`cache`] says what is in the cache and where a dataset's files are.
//!
//! ```
//! use dissensus_data::{find, find_votes};
//!
//! let cifar10h = find("cifar10h")?;
//! assert_eq!(cifar10h.licence, "CC BY-NC-SA 4.0 (votes); none stated (images)");
//! let (_, snli) = find_votes("chaosnli-snli")?;
//! assert_eq!(snli.files, ["chaosnli/chaosNLI_snli.jsonl"]);
//! # Ok::<(), dissensus_data::Error>(())
//! ```
//!
//! Downloading reports to a [`Progress`](dissensus_core::Progress); nothing is printed here.
//!
//! ```no_run
//! use dissensus_core::Silent;
//! use dissensus_data::{Options, default_cache_dir, fetch, find};
//!
//! let options = Options::new(default_cache_dir()?);
//! let fetched = fetch(find("cifar10h")?, &options, &Silent)?;
//! assert!(fetched.files.iter().all(|file| file.path.exists()));
//! # Ok::<(), dissensus_data::Error>(())
//! ```

pub mod blends;
pub mod cache;
pub mod catalogue;
mod digest;
mod error;
pub mod fetch;
mod hub;
mod verified;

pub use cache::{default_cache_dir, locate, locate_votes, status};
pub use catalogue::{DATASETS, Dataset, VoteSet, find, find_votes};
pub use error::Error;
pub use fetch::{Fetched, FetchedModel, Hub, Options, fetch, fetch_model};
pub use hub::{HubModel, LocatedModel, PREFIX as HUB_PREFIX, locate_model};
