//! One file per kind of figure: what it takes from a book, as rows of data and as panels, which
//! `panel.rs` and `sheet.rs` draw for all kinds.

mod curves;
mod effect;
mod estimate;
mod figure;
pub(crate) mod font;
mod histogram;
mod images;
mod images_drawn;
mod key;
mod kind;
mod lines;
mod look;
mod maps;
mod panel;
mod points;
mod reliability;
mod runs;
mod scale;
mod scatter;
mod scope;
mod sheet;
mod spec;

pub use estimate::Estimate;
pub use figure::{Figure, prepare};
pub use font::css as font_css;
pub use key::Key;
pub use kind::{FigureKind, Names, Setting};
pub(crate) use look::Paint;
pub use look::{Form, LOOKS, variables};
pub use reliability::{ReliabilityBin, ReliabilityCurve};
pub use spec::FigureSpec;
