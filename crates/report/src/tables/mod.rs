//! Tables: first prepared, then written in several forms.
//!
//! [`prepare`] turns a [`TableSpec`] and the results into a [`Table`], plain data with all numbers
//! of each cell. [`markdown`], [`latex`], [`terminal`] and [`csv`] write it; where values were published, the
//! first two add a second table with ours beside them ([`Table::published`]). A [`Tally`] counts
//! over all tables how many cells come near what was published.

mod chosen;
pub(crate) mod claims;
mod columns;
mod csv;
mod datasets;
mod latex;
mod layout;
mod markdown;
mod paired;
mod prepare;
mod published;
mod results;
mod spec;
mod table;
mod tally;
mod terminal;
mod text;
pub(crate) mod words;

pub use columns::{Columns, TableForm};
pub use csv::csv;
pub use latex::latex;
pub use markdown::markdown;
pub use prepare::prepare;
pub use published::Beside;
pub(crate) use results::Results;
pub use spec::{Against, Dimension, Family, Shows, Side, TableSpec, TestKind, Votes};
pub use table::{Cell, CellKey, Head, Line, Number, Published, Table, Test, Verdict};
pub use tally::Tally;
pub use terminal::{Style, terminal};
pub use text::{TextCell, TextLine, TextTable};
