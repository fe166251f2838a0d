//! Training, from the spec to the last epoch. Devices are the engine's, and files the store's: this
//! crate knows neither paths nor hardware.
//!
//! * [`spec`]: configuration files. A training spec becomes a [`Spec`]; [`template`] explains all
//!   keys.
//! * [`Spec::runs`]: methods × votes × seeds, each a [`RunPlan`]. With the data's digests it is a
//!   [`RunSpec`]: all that decides the result of a run, and nothing else.
//! * [`split`]: which items are trained on, and which are held out.
//! * [`Task`]: votes and inputs of the same items, and where it is judged on another data set
//!   ([`Task::judged_on`]) those of both. With a plan it makes a [`Setup`]: network, parts and
//!   labels, ready to start.
//! * [`train`]: the loop, from the start or from a checkpoint; [`Options`] say how it is run,
//!   [`Watch`] sees it run, [`Outcome`] is how it ended. [`lanes`] is for several runs at a time.
//! * [`Selection`], [`Stopping`]: which epoch is kept, and when training ends early.
//! * [`divergence`]: when a loss is no number any more.
//! * [`scores`], [`Found`]: the figures of predictions, and weights as they are stored.
//!
//! A run is the same to the bit however it is run: in one go or in pieces, on any number of threads,
//! beside other runs, from data in any order. `tests/resume.rs` holds it to that.
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
//! let spec = Spec::parse(text, "spec.toml", &["training.epochs=20".into()])?;
//! let runs = spec.runs();
//! assert_eq!(runs.len(), 2 * 2 * 3);
//! assert_eq!(runs[0].label(), "soft · 5 votes · seed 0");
//! assert_eq!(runs[0].training.epochs, 20);
//! # Ok::<(), dissensus_train::ConfigError>(())
//! ```

mod divergence;
mod epochs;
mod error;
mod lanes;
mod plan;
mod saved;
mod scores;
mod setup;
pub mod spec;
mod split;
mod stopping;
mod task;
mod training;

pub use divergence::divergence;
pub use error::{ConfigError, Place, TrainError};
pub use lanes::lanes;
pub use plan::{DataIdentity, FORMAT, Format, RunPlan, RunSpec, SplitPlan};
pub use saved::Found;
pub use scores::{reported, scores};
pub use setup::{Part, Setup};
pub use spec::{Spec, template};
pub use split::{Parts, SPLIT, SplitError, are_shares, split};
pub use stopping::{Best, Better, Selection, Stop, Stopping};
pub use task::{BothJoined, Task, Voted};
pub use training::{Options, Outcome, Watch, train};
