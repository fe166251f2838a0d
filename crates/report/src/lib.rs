//! Tables, figures and a page from the results of a study.
//!
//! * [`book`]: everything that a report is made of, already computed.
//! * [`tables`]: means over seeds with paired tests, as Markdown, LaTeX, CSV or for a terminal.
//! * [`figures`]: drawings as SVG with their data as CSV; [`raster`] makes PNG and PDF of them.
//! * [`claims`]: whether what a study claims holds.
//! * [`page`]: all of it as one self-contained HTML file.
//!
//! Data is prepared first, then written; only summaries and tests over seeds are computed here.
//!
//! ```
//! use dissensus_report::book::{Arm, Book, Named, Row};
//! use dissensus_report::tables::{self, TableSpec};
//! let row = |arm: &str, seed: u64, value: f64| Row {
//!     dataset: "images".into(),
//!     arm: arm.into(),
//!     seed,
//!     metric: "accuracy".into(),
//!     slice: "all".into(),
//!     value: Some(value),
//!     ..Row::default()
//! };
//! let arm = |name: &str| Arm { name: name.into(), title: name.into(), ..Arm::default() };
//! let book = Book {
//!     arms: vec![arm("soft"), arm("hard")],
//!     datasets: vec![Named { name: "images".into(), title: "Images".into() }],
//!     rows: vec![row("soft", 0, 0.92), row("soft", 1, 0.94), row("hard", 0, 0.9)],
//!     ..Book::default()
//! };
//! let table = tables::prepare(&TableSpec { name: "main".into(), ..TableSpec::default() }, &book)?;
//! assert!(tables::markdown(&table).contains("| soft | 0.9300 ± 0.0141 |"));
//! # Ok::<(), dissensus_report::ReportError>(())
//! ```

pub mod book;
pub mod claims;
pub mod csv;
mod error;
pub mod figures;
pub mod page;
mod pdf;
pub mod plain;
pub mod raster;
mod svg;
pub mod tables;
mod texts;
mod truetype;

pub use error::ReportError;
