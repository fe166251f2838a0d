//! Predictions of any model, from any file, matched with votes.
//!
//! [`read`] gives the predictions in a file, one entry a model; [`align`] matches them with a vote
//! table: by id where there are ids, by position only where there are none, and it says which.
//! Containers (tables, JSON, arrays, archives) are those of `dissensus-votes`. To add a format,
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
pub use read::{Kind, Predictions, ReadOptions, read, read_bytes, read_with_progress};
