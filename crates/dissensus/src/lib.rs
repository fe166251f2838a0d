//! Train and judge classifiers on how people actually voted.
//!
//! ```standalone_crate
//! use dissensus::engine::{Cpu, Model};
//! use dissensus::{FitOptions, RunPlan, ScoreOptions, fit, read_inputs, read_votes, score};
//!
//! # let folder = tempfile::tempdir()?;
//! # std::env::set_current_dir(folder.path())?;
//! # let mut votes = String::from("item,annotator,label\n");
//! # let mut features = String::from("id,x,y\n");
//! # for item in 0..20 {
//! #     for who in 0..5 {
//! #         let label = if (item + usize::from(who == 0)) % 2 == 0 { "cat" } else { "dog" };
//! #         votes += &format!("{item},{who},{label}\n");
//! #     }
//! #     features += &format!("{item},{}.0,0.5\n", item % 2);
//! # }
//! # std::fs::write("votes.csv", votes)?;
//! # std::fs::write("features.csv", features)?;
//! let votes = read_votes("votes.csv".as_ref(), &Default::default())?; // item, annotator, label
//! let inputs = read_inputs("features.csv".as_ref(), &Default::default(), &Default::default())?;
//!
//! let plan = RunPlan::new("sls")?.model(Model::named("mlp")?).epochs(20);
//! let trained = fit(&votes, &inputs, &plan, &Cpu, &FitOptions::default())?;
//!
//! let predictions = trained.predict(&Cpu, &inputs)?.to_predictions("sls");
//! let scores = score(&votes, &predictions, &ScoreOptions::default())?;
//! println!("soft NLL {:?}", scores.metric("soft_nll"));
//! # assert!(scores.metric("soft_nll").and_then(|score| score.value).is_some_and(|nll| nll < 0.7));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The verbs: [`read_votes`], [`read_inputs`], [`data::fetch()`] (datasets and encoders), [`encode`],
//! [`deliver`], [`fit`] and [`fit_stored`], [`Trained::predict`], [`score`], [`compare_items`] and
//! [`compare_seeds`], [`examine`] (curvature, barriers, CKA, Grad-CAM, out-of-distribution
//! detection), [`Study::plan`](studies::Study::plan) with [`run_study`], and [`write_report`].
//!
//! Long work takes a [`Progress`] and a [`Cancel`]; every failure is an [`Error`] that carries data.
//! The crates below are re-exported as modules of the same names, for everything that is not a verb.

mod blends_files;
mod compare;
mod context;
mod csv_files;
mod data_error;
mod deliver;
mod encoding;
mod error;
mod evaluate;
mod fetch;
mod figures;
mod load;
mod open;
mod reporting;
mod run_list;
mod score;
mod study;
mod summary;
mod verbs;

#[rustfmt::skip]
pub use {
    dissensus_core as core, dissensus_data as data, dissensus_embed as embed,
    dissensus_engine as engine, dissensus_examine as examine, dissensus_geometry as geometry,
    dissensus_inputs as inputs, dissensus_io as io, dissensus_labels as labels,
    dissensus_measure as measure, dissensus_predictions as predictions, dissensus_report as report,
    dissensus_stats as stats, dissensus_store as store, dissensus_studies as studies,
    dissensus_train as train, dissensus_votes as votes,
};

pub use dissensus_core::{Cancel, Event, Progress, Silent, VoteTable};
pub use dissensus_train::{FitOptions, RunPlan, Task, TrainError, Trained, fit_stored, run_jobs};

pub use blends_files::{BLENDS_FILES, save_blends};
pub use compare::{
    Difference, ItemComparison, PredictedItems, SeedComparison, SeedTest, compare_items,
    compare_seeds,
};
pub use context::LoadContext;
pub use csv_files::{PredictionFile, baseline_csv, densities_csv, ood_scores_csv, predictions_csv};
pub use data_error::DataError;
pub use deliver::{DeliverOptions, Delivered, LabelFile, SparseDraw, deliver};
pub use encoding::{ENCODERS, Source as EncoderSource, encode, open_encoder};
pub use error::Error;
pub use evaluate::{
    DEFAULT_METRICS, Evaluated, ItemOverlap, LabelProblem, ScoreError, ScoreOptions, check_pair,
    evaluate, evaluate_common, metrics, same_items,
};
pub use fetch::{fetch_data, fetch_named};
pub use figures::{format_number, votes_figure};
pub use load::{blends_material, load_material, load_task, read_inputs};
pub use open::find_data;
pub use reporting::{WrittenReport, report_tables, write_report};
pub use run_list::{RunFile, RunRow, run_files, state_name};
pub use score::{MetricScore, Scores, score};
pub use study::{StudyEvent, StudyOptions, StudyOutcome, drop_weights, run_study, train_study};
pub use summary::{ArmMetric, ArmSummary, RunSummary, SummaryColumn, ValueOf, summarize_runs};
pub use verbs::{VERSION, environment, fit, read_votes};
