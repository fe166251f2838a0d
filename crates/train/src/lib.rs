//! Training, from the spec to the rules that end it. Pure: nothing here reads a file or knows a
//! device.
//!
//! * [`spec`]: a TOML file, checked and resolved into a [`Spec`]; [`template`] is one with every
//!   key explained.
//! * [`Spec::runs`]: methods × votes × seeds, each a [`RunPlan`]. With the data's digests it is a
//!   [`RunSpec`]: all that decides the result of a run, and nothing else.
//! * [`split`]: which items are trained on, and which are held out.
//! * [`Selection`], [`Stopping`]: which epoch is kept, and when training ends early.
//! * [`divergence`]: when a loss is no number any more.
//!
//! ```
//! use dissensus_train::Spec;
//! let text = "
//!     [data]
//!     dataset = 'blends'
//!     votes_per_item = [5, 'all']
//!     [delivery]
//!     methods = ['soft', 'sls']
//! ";
//! let spec = Spec::parse(text, "study.toml", &["training.epochs=20".into()])?;
//! let runs = spec.runs();
//! assert_eq!(runs.len(), 2 * 2 * 3);
//! assert_eq!(runs[0].label(), "soft · 5 votes · seed 0");
//! assert_eq!(runs[0].training.epochs, 20);
//! # Ok::<(), dissensus_train::SpecError>(())
//! ```

mod divergence;
mod epochs;
mod error;
mod lanes;
mod plan;
mod saved;
mod setup;
pub mod spec;
mod split;
mod stopping;
mod task;
mod training;

pub use divergence::divergence;
pub use error::{Place, SpecError, TrainError};
pub use lanes::lanes;
pub use plan::{DataIdentity, FORMAT, Format, RunPlan, RunSpec, SplitPlan};
pub use saved::Found;
pub use setup::{Part, Setup};
pub use spec::{Spec, template};
pub use split::{Parts, SPLIT, SplitError, are_shares, split};
pub use stopping::{Best, Better, Selection, Stop, Stopping};
pub use task::Task;
pub use training::{Options, Outcome, Watch, scores, train};
