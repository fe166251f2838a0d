//! Predictions of any model, from any file, matched with votes.
//!
//! ```
//! use dissensus_predictions::{ReadOptions, align, read_bytes};
//!
//! let votes = "id,cat,dog\na,3,1\nb,0,4\n";
//! let votes = dissensus_votes::read_bytes("votes.csv", votes.into(), &Default::default())?;
//! let model = "id,dog,cat\nb,0.9,0.1\na,0.3,0.7\n";
//! let models = read_bytes("model.csv", model.into(), &ReadOptions::default())?;
//! let aligned = align(&votes.table, &models[0])?;
//! assert_eq!(aligned.values[..], [0.7, 0.3, 0.1, 0.9]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`read`] gives the predictions in a file, one entry per model; [`read_for`] knows the votes that they
//! are for, which tells ids and classes from other columns. What a file says for certain is
//! read; what is assumed comes back as a [`Note`]; what could change a number and is in doubt is
//! refused, and [`ReadOptions`] decide it. [`align`] matches predictions with a vote table: items
//! by id and classes by name, by position only where there are no ids or names, or where the user
//! says so; whatever the order of the classes, it is an error if another one fits the votes
//! significantly better. [`ways_in`] gives the options by which a refused file is certainly read right.
//! Containers (tables, JSON, arrays, archives) are those of `dissensus-io`. To add a format,
//! write `formats/NAME.rs` and add it to the list in `formats/mod.rs`.

// What only readers of files use is not used without them.
#![cfg_attr(not(feature = "files"), allow(dead_code))]

mod align;
mod baselines;
mod classes;
mod context;
mod error;
mod join;
mod logits;
mod note;
mod numbers;
mod options;
mod order;
mod predictions;

pub use align::{AlignError, Aligned, align};
pub use baselines::{BASELINES, Baseline};
pub use dissensus_core::Matched;
pub use error::{BadRow, PredictionError, PredictionProblem};
pub use join::{Join, JoinError, join};
pub use logits::{Logits, LogitsError};
pub use note::{ClassesMatched, Note};
pub use numbers::RowProblem;
pub use options::{ByPosition, ClassMap, ClassNames, ClassOrder, Kind, ReadOptions};
pub use predictions::{Predictions, RowIds};

#[cfg(feature = "files")]
mod cells;
#[cfg(feature = "files")]
mod formats;
#[cfg(feature = "files")]
mod label_names;
#[cfg(feature = "files")]
mod profile;
#[cfg(feature = "files")]
mod read;
#[cfg(feature = "files")]
mod rows_of_json;
#[cfg(feature = "files")]
mod ways;

#[cfg(feature = "files")]
pub use formats::{FORMATS, Format};
#[cfg(feature = "files")]
pub use profile::profile;
#[cfg(feature = "files")]
pub use read::{read, read_bytes, read_bytes_for, read_for};
#[cfg(feature = "files")]
pub use ways::ways_in;
