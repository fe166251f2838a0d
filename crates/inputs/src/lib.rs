//! What a model is trained on: images or feature vectors, each known by its item's id.
//!
//! ```
//! use dissensus_inputs::{ReadOptions, join, read_bytes};
//!
//! let features = "id,width,height\nb,1.5,2\na,0.5,3\n";
//! let inputs = read_bytes("features.csv", features.into(), &ReadOptions::default())?;
//! let votes = "id,cat,dog\na,3,1\nb,0,4\n";
//! let votes = dissensus_votes::read_bytes("votes.csv", votes.into(), &Default::default())?;
//! let joined = join(&votes.table, &inputs)?;
//! assert_eq!(joined.items, [(0, 1), (1, 0)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! * [`read`] gives the [`Inputs`] in a file (numpy, safetensors, a table) or a folder of images;
//! * [`from_dataset`] gives those of a known dataset, from the cache, [`votes`] its votes and
//!   [`texts`] the texts that an encoder makes features of;
//! * [`join`] matches them with a vote table: by id where there are ids, by position only where
//!   there are none, and it says which.
//!
//! | kind | shape | values |
//! |---|---|---|
//! | [`Images`] | items × height × width × channels (1 grey, 3 RGB) | bytes, 0 to 255 |
//! | [`Features`] | items × width | finite `f32` |
//!
//! Containers (tables, arrays, archives) are those of `dissensus-io`. To add a format, write
//! `formats/NAME.rs` and add it to the list in `formats/mod.rs`; a dataset with images goes into
//! the list in `datasets/mod.rs`. What is left out of a file stands in [`Inputs::notes`].

mod columns;
mod datasets;
mod digest;
mod error;
mod features;
mod formats;
mod images;
mod inputs;
mod join;
mod options;
mod read;

pub use datasets::{WITH_IMAGES, from_blends, from_dataset, texts, votes};
pub use dissensus_core::{Joined, Matched, Missing};
pub use error::InputError;
pub use features::{Features, write_features};
pub use formats::{FORMATS, Format};
pub use images::{Images, Normalization};
pub use inputs::{Content, Inputs, Kind};
pub use join::join;
pub use options::{Layout, ReadOptions, parse_size};
pub use read::{read, read_bytes, read_with_progress};
