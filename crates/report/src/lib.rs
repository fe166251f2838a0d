//! What a study comes to: tables, figures and a page. Data is prepared first, then drawn; nothing is
//! measured here.

pub mod book;
pub mod claims;
pub mod csv;
mod error;
pub mod figures;
pub mod page;
pub mod raster;
mod svg;
pub mod tables;

pub use error::ReportError;
