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
//! assert_eq!(aligned.values, [0.7, 0.3, 0.1, 0.9]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`read`] gives the predictions in a file, one entry per model; [`align`] matches them with a vote
//! table: by id where there are ids, by position only where there are none, and it says which.
//! Containers (tables, JSON, arrays, archives) are those of `dissensus-io`. To add a format,
//! write `formats/NAME.rs` and add it to the list in `formats/mod.rs`.

mod align;
mod baselines;
mod formats;
mod logits;
mod read;

pub use align::{AlignError, Aligned, align};
pub use baselines::{BASELINES, Baseline};
pub use dissensus_core::Matched;
pub use formats::{FORMATS, Format};
pub use logits::{Logits, LogitsError};
pub use read::{Kind, Predictions, ReadOptions, read, read_bytes};
