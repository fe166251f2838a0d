//! Reads votes: every format that people's votes come in, read into one
//! [`VoteTable`](dissensus_core::VoteTable); the summary, the linter and the canonical writers.
//!
//! ```
//! use dissensus_votes::{ReadOptions, read_bytes};
//!
//! let text = "item,annotator,label\na,ann,cat\na,bob,dog\nb,ann,cat\n";
//! let votes = read_bytes("votes.csv", text.into(), &ReadOptions::default())?;
//! assert_eq!(votes.format.name, "long");
//! assert_eq!(votes.table.items().len(), 2);
//! assert_eq!(votes.table.classes().names(), ["cat", "dog"]);
//! # Ok::<(), dissensus_votes::ReadError>(())
//! ```
//!
//! [`read`] takes a file, [`read_with_progress`] reports how far it is, and [`ReadOptions`] says
//! what cannot be guessed. A source passes three stages. [`dissensus_io::Input`] opens it and unpacks compression;
//! [`dissensus_io::Source`] tells what it is stored in (a table, a JSON document, an array, an
//! archive); [`formats`] tells how votes lie in it and reads them into an [`collector`]. A new format is one file in `formats/` and
//! one line in its list.

mod advice;
pub mod agreement;
pub mod collector;
pub mod formats;
pub mod lint;
mod names;
pub mod options;
mod plausible;
mod profile;
mod reading;
mod select;
pub mod summary;
mod ways;
pub mod write;

pub use collector::{Finding, Note, Severity};
pub use dissensus_io::{Coded, Frame, Limits, Problem, ReadError};
pub use options::{MultiLabel, ReadOptions, Values};
pub use reading::{VoteFile, read, read_bytes, read_frame, read_input, read_with_progress};
