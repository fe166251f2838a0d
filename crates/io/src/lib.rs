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

pub mod archive;
pub mod delimited;
mod error;
mod example;
mod files;
mod foreign;
mod frame;
pub mod http;
pub mod input;
pub mod json;
mod lock;
pub mod npy;
pub mod npz;
mod options;
mod output;
pub mod parquet;
pub mod pickle;
pub mod python;
mod source;
mod table;
pub mod tensors;

pub use archive::Archive;
pub use error::{Advice, Problem, ReadError, Way, shorten, write_place};
pub use example::{Content, Example};
pub use files::{
    Durability, Existing, FileError, Out, TEMPORARY, remove_orphans, sync_folder, write_file,
};
pub use frame::{Coded, Frame};
pub use input::{Input, MOST_TIMES, most_unpacked};
pub use lock::Lock;
pub use options::{Delimiter, ReadOption};
pub use output::{
    STORE_MARKER, check_output, check_output_folder, check_outside, store_around, write_output,
};
pub use source::{Limits, Source, SourceOptions};
pub use table::{Row, Rows, Table, TableKind, cell_text};
