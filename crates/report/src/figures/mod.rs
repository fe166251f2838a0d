//! One file a figure: a struct of prepared data, and a function that draws it as SVG.

mod axes;
mod histogram;
mod reliability;
mod scatter;

pub use histogram::Histogram;
pub use reliability::{Reliability, ReliabilityBin, ReliabilityCurve};
pub use scatter::Scatter;
