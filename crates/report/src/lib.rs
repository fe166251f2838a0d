//! Figures: data that is already prepared, drawn. Nothing is computed here.

pub mod figures;
mod svg;
