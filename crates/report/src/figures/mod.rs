//! One file per kind of figure: a struct of prepared data, how it is taken from a book, and how it is
//! drawn as panels, which `panel.rs` and `sheet.rs` do for all kinds.

mod curves;
mod effect;
mod estimate;
mod figure;
pub(crate) mod font;
mod histogram;
mod key;
mod kind;
mod lines;
mod look;
mod maps;
mod panel;
mod pictures;
mod pictures_drawn;
mod points;
mod reliability;
mod runs;
mod scale;
mod scatter;
mod scope;
mod sheet;
mod spec;

pub use curves::{CurveOf, CurvePoint, Curves, CurvesPanel};
pub use effect::{Effect, EffectBin, EffectPanel, EffectSeries};
pub use estimate::Estimate;
pub use figure::{Figure, prepare};
pub use font::css as font_css;
pub use histogram::{Histogram, HistogramPanel, HistogramSeries};
pub use key::Key;
pub use kind::{Drawing, FigureKind, Names, Setting};
pub use lines::{Line, Lines, LinesPanel};
pub(crate) use look::Paint;
pub use look::{Form, LOOKS, variables};
pub use maps::{Maps, MapsColumn, MapsItem};
pub use pictures::{Pictures, PicturesClass, PicturesColumn, PicturesItem};
pub use points::{Point, Points, PointsGroup, PointsPanel};
pub use reliability::{Reliability, ReliabilityBin, ReliabilityCurve, ReliabilityPanel};
pub use runs::{Run, Runs, RunsArm, RunsPanel};
pub use scatter::{Scatter, ScatterPanel};
pub use spec::FigureSpec;
