//! A finished run's model, on a device, and what can be asked of it.
//!
//! [`Model::open`] takes a run of a store and the data that it was trained on, and puts its weights
//! on a device. Then there is one file per question:
//!
//! * [`curvature`]: how the loss curves around the weights, over a part of the split or a slice.
//! * [`variance`]: how much the last layer's gradient varies when labels are drawn from votes.
//! * [`barrier`]: the loss along the straight line between two runs.
//! * [`cka`]: how alike the features of several runs are.
//! * [`gradcam`]: where in an image a class is seen, and whether other runs see it there, too.
//! * [`ood`]: out-of-distribution detection: how well images of other sets are told from the evaluation part.
//!
//! ```no_run
//! use dissensus_engine::Cpu;
//! use dissensus_examine::{CurvatureSettings, Model, ModelSettings, Observer, curvature};
//! use dissensus_store::{RunInfo, Which};
//! use dissensus_train::Task;
//!
//! fn sharpness(run: &RunInfo, task: &Task) -> Result<String, dissensus_examine::ExamineError> {
//!     let mut model = Model::open(run, task, Which::Best, &Cpu, &ModelSettings::default())?;
//!     let found = curvature(&mut model, &CurvatureSettings::default(), &Observer::silent())?;
//!     Ok(format!("{}: the largest eigenvalue is {:?}", model.label(), found.lambda_max()))
//! }
//! ```
//!
//! The mathematics are in `geometry`, `measure` and `stats`; this crate knows which items, which
//! weights and which votes go in. Answers carry their settings, their errors and what they cost, and
//! can be written as JSON. An [`Observer`] is told how far the work is, and may stop it.
//!
//! Items are rows of the data, the same for all runs that were trained on them, and part of a
//! split as each run's own seed has it.

mod barrier;
mod cka;
mod cost;
mod curvature;
mod draw;
mod error;
mod gradcam;
mod model;
mod observer;
mod ood;
mod slice;
mod stored;
mod variance;

pub use barrier::{PathSettings, Paths, barrier};
pub use cka::{Cka, CkaSettings, Shared, cka};
pub use cost::Cost;
pub use curvature::{Curvature, CurvatureSettings, GPU_PRECISION, curvature, curvature_among};
pub use draw::{DrawnMaps, MapOptions, draw_maps};
pub use error::ExamineError;
pub use gradcam::{
    CamSettings, ItemMap, Maps, Seeing, SliceStability, StabilitySettings, gradcam, overlay, png,
    stability,
};
pub use model::{Model, ModelSettings};
pub use observer::Observer;
pub use ood::{Ood, OodScores, OodSettings, Outside, ood};
pub use slice::Slice;
pub use stored::{Predictor, StoredModel};
pub use variance::{ItemVariance, Variance, VarianceSettings, variance};
