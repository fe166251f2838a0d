//! Files and the network, one way each: what votes, predictions and inputs are stored in (tables,
//! JSON, arrays, archives), files that are written whole or not at all, locks between processes,
//! and one HTTP client. Nothing here knows of votes or models.
//!
//! ```
//! use dissensus_io::{Input, Limits, Source, SourceOptions};
//!
//! let text = "item,label\na,cat\nb,dog\n";
//! let input = Input::from_bytes("votes.csv", text.into())?;
//! let Source::Table(table) = Source::open(input, &SourceOptions::default())? else {
//!     panic!("a CSV file is a table")
//! };
//! assert_eq!(table.columns, ["item", "label"]);
//! for row in table.rows(&Limits::default()) {
//!     assert_eq!(row?.cells.len(), 2);
//! }
//! # Ok::<(), dissensus_io::ReadError>(())
//! ```

mod error;
mod options;

pub use error::{Advice, Problem, ReadError, Way, shorten, write_place};
pub use options::{Delimiter, Limits, ReadOption, SourceOptions};

#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "parquet")]
pub mod parquet;

#[cfg(feature = "files")]
pub mod archive;
#[cfg(feature = "files")]
pub mod delimited;
#[cfg(feature = "files")]
mod example;
#[cfg(feature = "files")]
mod files;
#[cfg(feature = "files")]
mod foreign;
#[cfg(feature = "files")]
mod frame;
#[cfg(feature = "files")]
pub mod input;
#[cfg(feature = "files")]
pub mod json;
#[cfg(feature = "files")]
mod lock;
#[cfg(feature = "files")]
pub mod npy;
#[cfg(feature = "files")]
pub mod npz;
#[cfg(feature = "files")]
mod output;
#[cfg(feature = "files")]
pub mod pickle;
#[cfg(feature = "files")]
pub mod python;
#[cfg(feature = "files")]
mod selection;
#[cfg(feature = "files")]
mod source;
#[cfg(feature = "files")]
mod table;
#[cfg(feature = "files")]
pub mod tensors;

#[cfg(feature = "files")]
pub use archive::Archive;
#[cfg(feature = "files")]
pub use example::{Content, Example};
#[cfg(feature = "files")]
pub use files::{
    Durability, Existing, FileError, Out, TEMPORARY, remove_orphans, sync_folder, write_file,
};
#[cfg(feature = "files")]
pub use frame::{Coded, Frame};
#[cfg(feature = "files")]
pub use input::{Input, MOST_TIMES, most_unpacked};
#[cfg(feature = "files")]
pub use lock::Lock;
#[cfg(feature = "files")]
pub use output::{
    STORE_MARKER, check_output, check_output_folder, check_outside, store_around, write_output,
};
#[cfg(feature = "files")]
pub use selection::{Condition, Selection};
#[cfg(feature = "files")]
pub use source::Source;
#[cfg(feature = "files")]
pub use table::{Row, Rows, Table, TableKind, cell_text};
