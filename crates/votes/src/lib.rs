//! Votes in: every format that people's votes come in, read into one
//! [`VoteTable`](dissensus_core::VoteTable); the summary, the linter and the canonical writers.
//!
//! A source passes three stages. [`dissensus_io::Input`] opens it and unpacks compression;
//! [`dissensus_io::Source`] tells what it is stored in (a table, a JSON document, an array, an
//! archive); [`formats`] tells how votes lie in it and reads them into an [`intake`]. A new format is one file in `formats/` and
//! one line in its list.

pub mod formats;
pub mod intake;
pub mod lint;
pub mod options;
mod reading;
pub mod summary;
pub mod write;

pub use dissensus_io::{Limits, Problem, ReadError};
pub use intake::{Finding, Note, Severity};
pub use options::{MultiLabel, ReadOptions, Values};
pub use reading::{Reading, read, read_bytes, read_input, read_with_progress};
