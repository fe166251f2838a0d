//! The Python package `dissensus`: the library's verbs over numpy arrays and Arrow tables.
//!
//! One file per part: `votes.rs`, `delivery.rs`, …; `errors.rs`, `arrow.rs` and `work.rs` are shared. Python code that needs
//! no speed (progress bars, torch, scikit-learn, trackers) is in `package/dissensus`.

mod arrow;
mod cluster;
mod command;
mod data;
mod delivery;
mod errors;
mod figure;
mod json;
mod judging;
mod metrics;
mod models;
mod numbers;
mod stats;
mod stores;
mod studies;
mod votes;
mod work;

/// Allocates as the command does.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The native part of the package.
#[pyo3::pymodule(gil_used = false)]
mod _dissensus {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::arrow::Table;
    #[pymodule_export]
    use crate::cluster::{Submission, Synced};
    #[pymodule_export]
    use crate::command::main;
    #[pymodule_export]
    use crate::data::fetch;
    #[pymodule_export]
    use crate::delivery::Delivery;
    #[pymodule_export]
    use crate::figure::Figure;
    #[pymodule_export]
    use crate::figure::write_file;
    #[pymodule_export]
    use crate::judging::{
        Ceiling, Comparison, Reliability, Scores, SeedComparison, judge_ceiling, judge_compare,
        judge_compare_seeds, judge_reliability, judge_score,
    };
    #[pymodule_export]
    use crate::metrics::{metric_explain, metric_items, metric_names, metric_title, metric_value};
    #[pymodule_export]
    use crate::models::{Model, fit_model};
    #[pymodule_export]
    use crate::stats::{
        stats_adjust, stats_bootstrap, stats_bootstrap_mean, stats_cohen_dz, stats_correlation,
        stats_describe, stats_mean_difference, stats_paired_t, stats_partial_spearman,
        stats_quantiles, stats_rank_biserial, stats_sign, stats_smallest_p, stats_welch,
        stats_wilcoxon,
    };
    #[pymodule_export]
    use crate::stores::{Run, RunPredictions, Store};
    #[pymodule_export]
    use crate::studies::{Study, StudyStatus};
    #[pymodule_export]
    use crate::votes::lint_file;
    #[pymodule_export]
    use crate::votes::{Aggregation, Votes};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::work::remember_process();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
