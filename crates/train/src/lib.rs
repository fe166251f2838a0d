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
//! * [`fit`]: trains a model in memory and gives a [`Trained`] one, with its [`RunResult`].
//!   [`fit_stored`] is the same with a run of a store, which is saved on the way and can be continued.
//!   [`run_jobs`] trains many runs, several at once, on an [`OpenDevice`].
//! * [`Selection`], [`Stopping`]: which epoch is kept, and when training ends early.
//! * [`divergence`]: when a loss is no number any more.
//! * [`scores`], [`Found`]: the metrics of predictions, and weights as they are stored.
//!
//! A run is the same to the bit however it is run: in one go or in pieces, on any number of threads,
//! beside other runs, from data in any order. `tests/resume.rs` holds it to that.
//!
//! A model trained in memory:
//!
//! ```
//! use dissensus_core::{ClassOrder, ClassSet, Counts, Ids, VoteTable};
//! use dissensus_engine::{Cpu, Model};
//! use dissensus_inputs::{Features, Inputs, Kind};
//! use dissensus_train::{FitOptions, RunPlan, Task, fit};
//!
//! // Twenty items with five votes each: four for one class, one for the other.
//! let classes = ClassSet::new(vec!["cat".into(), "dog".into()], ClassOrder::Declared)?;
//! let mut counts = Counts::new();
//! (0..20).try_for_each(|item| counts.push([(item % 2, 4), (1 - item % 2, 1)]))?;
//! let votes = VoteTable::from_counts(classes, Ids::positions(20), counts)?;
//! // Two features per item.
//! let values = (0..20).flat_map(|item| [(item % 2) as f32, 0.5]).collect();
//! let features = Kind::Features(Features::new("features", 2, values)?);
//! let inputs = Inputs::new("features", Some(votes.items().clone()), features)?;
//!
//! let (task, _) = Task::new("example", &votes, &inputs)?;
//! let model = Model::named("mlp")?.with("hidden", 8_u64)?;
//! let plan = RunPlan::new("soft")?.model(model).epochs(3);
//! let trained = fit(&task, &plan, &Cpu, &FitOptions::default())?;
//! assert_eq!(trained.history.len(), 3);
//! assert!(trained.result.part("evaluation").unwrap().best.get("soft_nll").unwrap() < 1.0);
//!
//! let predictions = trained.predict(&Cpu, &inputs)?;
//! assert_eq!((predictions.ids().len(), predictions.classes().len()), (20, 2));
//! let first = &predictions.probabilities()[..2];
//! assert!((first[0] + first[1] - 1.0).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Many runs from a file:
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

mod device;
mod device_check;
mod divergence;
mod epochs;
mod error;
mod fit;
mod fitted;
mod jobs;
mod metrics;
mod pairs;
mod plan;
mod recipe;
mod result;
mod run_list;
mod saved;
mod scores;
mod setup;
pub mod spec;
mod split;
mod stopping;
mod stored;
mod task;
mod trained;

pub use device::{DeviceError, OpenDevice};
pub use device_check::{DeviceCheck, system};
pub use divergence::divergence;
pub use error::{ConfigError, Place, TrainError};
pub use fit::{FitOptions, fit};
pub use fitted::FittedModel;
pub use jobs::{EndedJob, JobOptions, JobOutcome, RunJob, parallel, run_jobs};
pub use metrics::Metrics;
pub use plan::{DataIdentity, FORMAT, Format, RunPlan, RunSpec, SplitPlan};
pub use recipe::Recipe;
pub use result::{EpochRow, Normalization, PartResult, RunEnvironment, RunResult};
pub use run_list::{Removal, RunDetails, RunFile, RunList, RunRow, run_files, state_name};
pub use saved::Found;
pub use scores::scores;
pub use setup::{Part, Setup, check_loss, parts};
pub use spec::{Spec, template};
pub use split::{GivenParts, PartPlaces, SPLIT, SplitError, are_shares, split};
pub use stopping::{Best, Selection, Stop, Stopping};
pub use stored::{Outcome, Saving, fit_stored};
pub use task::{BothJoined, Task, Voted, describe_shape, engine_dataset};
pub use trained::Trained;
