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
//! // The epoch is selected on the validation part and judged on the test part.
//! let parts = [("train", 0.7), ("validation", 0.1), ("test", 0.2)];
//! let plan = RunPlan::new("sls")?.model(Model::named("mlp")?).epochs(20).split(&parts);
//! let trained = fit(&votes, &inputs, &plan, &Cpu, &FitOptions::default())?;
//!
//! let predictions = trained.test_predictions().to_predictions("sls");
//! let scores = score(&votes, &predictions, &ScoreOptions::default())?;
//! println!("soft NLL {:?}", scores.metric("soft_nll"));
//! # assert!(scores.metric("soft_nll").and_then(|score| score.value).is_some_and(|nll| nll < 0.7));
//! # Ok::<(), dissensus::Error>(())
//! ```
//!
//! The verbs:
//!
//! | to | call |
//! |---|---|
//! | read votes, inputs, predictions | [`read_votes`], [`read_inputs`], [`read_predictions`] |
//! | download datasets and encoders; encode texts and images | [`fetch_named`], [`encode`] |
//! | write the labels of every epoch for another training loop | [`deliver`] |
//! | train a model in memory; predict with a stored one | [`fit`], [`predict_stored`] |
//! | score models, compare them, bound how well any can score | [`score()`], [`compare_items`], [`compare_seeds`], [`ceiling`] |
//! | train many runs in a store | [`Context::train`] |
//! | run a study, on one machine or several; write its report | [`study::run`], [`study::finish`], [`report::write`] |
//! | keep a store and a bucket in step | [`sync_store`] |
//!
//! [`examine`] asks trained models (curvature, barriers, CKA, Grad-CAM, out-of-distribution detection),
//! [`cluster`] runs a study on a cluster, [`demo`] is a study of generated data, [`pages`] and [`tables`] are
//! for people.
//!
//! Long work takes a [`Progress`] and a [`Cancel`]; what trains finds both in its [`Context`]. Every failure
//! is an [`Error`] that carries data. The crates below are re-exported as modules of the same names, for
//! everything that is not a verb.

#![warn(missing_docs)]

mod advice;
pub mod aggregation;
mod blends_files;
mod buckets;
mod causes;
pub mod cluster;
mod csv_files;
mod deliver;
pub mod demo;
mod error;
mod fetch;
mod figures;
pub mod files;
mod location;
mod open;
pub mod pages;
mod predict;
mod prediction_files;
mod reporting;
mod run_context;
pub mod study;
pub mod tables;
mod trained_on;
mod verbs;

#[rustfmt::skip]
pub use {
    dissensus_core as core, dissensus_data as data, dissensus_embed as embed,
    dissensus_engine as engine, dissensus_evaluate as evaluate, dissensus_examine as examine, dissensus_geometry as geometry,
    dissensus_inputs as inputs, dissensus_io as io, dissensus_labels as labels,
    dissensus_measure as measure, dissensus_predictions as predictions, dissensus_remote as remote,
    dissensus_sources as sources, dissensus_stats as stats, dissensus_store as store, dissensus_studies as studies,
    dissensus_train as train, dissensus_votes as votes,
};

/// Tables, figures and the page of a report; [`write()`](report::write) makes one of a study.
pub mod report {
    pub use crate::reporting::{WrittenReport, all_tables, check_folder, write};
    pub use dissensus_report::*;
}

pub use dissensus_core::{Cancel, Event, Progress, Silent, VoteTable};
pub use dissensus_evaluate::{
    DEFAULT_METRICS, Difference, Evaluated, ItemComparison, ItemOverlap, LabelProblem, MetricScore,
    ModelReading, ScoreError, ScoreOptions, Scores, SeedComparison, SeedTest, Slice, ceiling,
    check_pair, compare_items, compare_seeds, evaluate, evaluate_common, metrics, same_items,
    score, score_models,
};
pub use dissensus_sources::{
    ENCODERS, EncoderSource, LoadContext, SourceError, blends_material, encode, encode_data,
    fetch_data, fetch_named, load_material, load_task, open_encoder, read_inputs,
};
pub use dissensus_train::{
    FitOptions, FittedModel, RunPlan, Task, TrainError, Trained, fit_stored,
};

pub use advice::advice;
pub use blends_files::{BLENDS_FILES, save_blends};
pub use buckets::sync_store;
pub use causes::causes;
pub use csv_files::{PredictionFile, baseline_csv, densities_csv, ood_scores_csv, predictions_csv};
pub use deliver::{DeliverOptions, Delivered, LabelFile, SparseDraw, deliver};
pub use error::Error;
pub use fetch::{CachedFile, Fetchable};
pub use location::Location;
pub use open::ModelOpener;
pub use predict::{ItemFeatures, PredictOptions, StoredPredictions, predict_stored};
pub use prediction_files::{read_joined, read_predictions};
pub use run_context::{Context, open_device};
pub use trained_on::{count_same, trained_on};
pub use verbs::{VERSION, environment, fit, fit_task, read_votes};
