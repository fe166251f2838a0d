//! Files and the network, one way each: what votes, predictions and inputs are stored in (tables,
//! JSON, arrays, archives), files that are written whole or not at all, locks between processes,
//! and one HTTP client. Nothing here knows of votes or models.

pub mod archive;
pub mod delimited;
pub mod error;
pub mod input;
pub mod json;
pub mod npy;
pub mod parquet;
pub mod pickle;
pub mod python;
mod source;
mod table;

pub use archive::Archive;
pub use error::{Problem, ReadError, shorten};
pub use input::Input;
pub use source::{Limits, Source, SourceOptions};
pub use table::{Row, Rows, Table, TableKind, cell_text};
