//! One file a figure: a struct of prepared data, and a function that draws it as SVG.

mod histogram;

pub use histogram::Histogram;
