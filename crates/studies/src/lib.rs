//! Studies: from a commented TOML file to a grid of runs, their results, and all that a report is
//! made of. Nothing here trains, prints, or builds a path.
//!
//! * [`Study`]: a file, read and checked: what all runs have in common (a spec of `train`), data
//!   sets, arms, a grid, slices, stages, tables, figures, published values. [`BUILTIN`] are those that
//!   come with the program.
//! * [`Study::plan`]: with the data, every run of it by name, a [`Plan`] of [`Job`]s. Runs of the
//!   search ([`Plan::searches`]) come first, then those that it decides on ([`Plan::finals`]). The
//!   caller trains them: what is in the store already is not trained again.
//! * [`Plan::status`]: how far it is, and how long it will still take.
//! * [`Plan::collect`]: the table of results, by the [`stages`], into the study's folder.
//! * [`Plan::book`]: all that a report is made of.
//!
//! ```
//! use dissensus_studies::Study;
//! let study = Study::parse("
//!     [study]
//!     name = 'rates'
//!     [spec.data]
//!     dataset = 'blends'
//!     [spec.model]
//!     name = 'smallcnn'
//!     [[arm]]
//!     name = 'soft'
//!     delivery = 'soft'
//!     [grid]
//!     'training.rate' = [0.1, 0.01]
//! ", "rates.toml")?;
//! assert_eq!(study.arms[0].delivery, "soft");
//! # Ok::<(), dissensus_studies::StudyError>(())
//! ```

mod bench;
mod book;
mod builtin;
mod collect;
mod error;
mod examining;
mod file;
mod finished;
mod layers;
mod material;
mod own;
mod plan;
pub mod results;
mod slices;
pub mod stages;
mod status;
mod study;

pub use bench::{Bench, InputsOf};
pub use book::item_columns;
pub use builtin::{BUILTIN, Builtin, template};
pub use collect::{Collected, files};
pub use error::{LoadError, StudyError};
pub use examining::{Examined, Onlooker};
pub use file::{Arm, Axis, DatasetChoice, Grid, Scale, Setting, SliceBy, SliceRule, VotesChoice};
pub use finished::Finished;
pub use material::Material;
pub use own::Own;
pub use plan::{Finals, Job, Plan, PlanOptions, Undecided, distinct};
pub use results::Number;
pub use status::{ArmStatus, Failure, StatusReport, Tally};
pub use study::Study;
