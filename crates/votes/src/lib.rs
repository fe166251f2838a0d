//! Votes in: every format that people's votes come in, read into one
//! [`VoteTable`](dissensus_core::VoteTable); the summary, the linter and the canonical writers.
//!
//! A source passes three stages. [`input`] opens it and unpacks compression; [`containers`] tells
//! what it is stored in (a table, a JSON document, an array, an archive); [`formats`] tells how
//! votes lie in it and reads them into an [`intake`]. A new format is one file in `formats/` and
//! one line in its list.

pub mod containers;
pub mod error;
pub mod formats;
pub mod input;
pub mod intake;
pub mod lint;
pub mod options;
mod reading;
pub mod summary;
pub mod write;

pub use error::{Problem, ReadError, shorten};
pub use intake::{Finding, Note, Severity};
pub use options::{Limits, MultiLabel, ReadOptions, Values};
pub use reading::{Reading, read, read_bytes, read_input};
