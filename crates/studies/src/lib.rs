//! Studies: many runs that are compared, their results, and the contents of a report. Nothing here
//! trains or prints.
//!
//! A study is a TOML file with the sections of a training spec (`[data]`, `[model]`, `[training]`...)
//! and its own: `[study]`, `[[arm]]`, `[grid]`, `[[table]]`... A training spec is a study, too: each of its
//! methods is an arm.
//!
//! * [`Study`]: a file, read and checked. [`BUILTIN`] lists the built-in studies, and [`template`]
//!   explains all keys.
//! * [`Study::plan`]: with the data, a [`Plan`] of [`Job`]s, one per run. Search runs
//!   ([`Plan::searches`]) come first, then the final runs ([`Plan::finals`]). The caller trains those
//!   that are not in the store.
//! * [`Plan::shares`]: which of several machines trains which runs.
//! * [`Plan::status`]: the progress, and the remaining time.
//! * [`Plan::collect`]: the table of results, computed by the [`stages`], into the study's folder.
//! * [`Plan::book`]: the contents of a report.
//!
//! ```
//! use dissensus_studies::Study;
//! let study = Study::parse("
//!     [study]
//!     name = 'rates'
//!     [data]
//!     dataset = 'blends'
//!     [model]
//!     name = 'smallcnn'
//!     [[arm]]
//!     name = 'soft'
//!     delivery = 'soft'
//!     [grid]
//!     'training.learning_rate' = [0.1, 0.01]
//! ", "rates.toml")?;
//! assert_eq!(study.arms[0].delivery, "soft");
//! let spec = Study::parse("data.dataset = 'blends'\ndelivery.methods = ['soft', 'sls']", "mine.toml")?;
//! assert_eq!((spec.name.as_str(), spec.arms.len()), ("mine", 2));
//! # Ok::<(), dissensus_studies::StudyError>(())
//! ```

mod book;
mod builtin;
mod choice;
mod collect;
mod context;
mod error;
mod examining;
mod file;
mod finished;
mod layers;
mod own;
mod plan;
pub mod results;
mod run_summary;
mod shard;
pub mod stages;
mod status;
mod study;

pub use book::item_columns;
pub use builtin::{BUILTIN, Builtin, template};
pub use choice::{SeedChoice, VoteChoice};
pub use collect::{Collected, Gathered, ResultFiles, files};
pub use context::StageContext;
pub use dissensus_sources::Material;
pub use error::StudyError;
pub use examining::Examined;
pub use file::{
    Arm, Axis, DatasetChoice, Grid, STUDY_KEYS, Scale, Setting, SliceRule, VotesChoice,
};
pub(crate) use finished::Finished;
pub use own::NewStudy;
pub use plan::{ChosenRuns, Finals, Job, Plan, PlanOptions, Undecided, distinct};
pub use results::Number;
pub use run_summary::{
    ArmMetric, ArmSummary, RunOrigin, RunSummary, SummaryColumn, ValueOf, summarize_runs,
};
pub use shard::{MissingRun, Shard, Shares};
pub use status::{ArmStatus, Failure, StatusReport, Tally};
pub use study::Study;
