//! What `score` and `compare` share: votes and predictions read and matched, metrics chosen,
//! numbers with intervals.

mod interval;
mod models;

pub(crate) use interval::{Interval, interval};
pub(crate) use models::{JudgeArgs, Model};

use dissensus_measure::{METRICS, Metric};

/// The metrics of the usual table.
pub(crate) const USUAL: [&str; 7] =
    ["soft_nll", "kl", "soft_brier", "accuracy", "ece_mass", "smooth_ece", "entropy_spearman"];

/// The metrics by name; `all` means every one.
pub(crate) fn metrics(names: &[String]) -> anyhow::Result<Vec<&'static Metric>> {
    if names.iter().any(|name| name == "all") {
        return Ok(METRICS.iter().collect());
    }
    let usual: Vec<String> = USUAL.iter().map(ToString::to_string).collect();
    let names = if names.is_empty() { &usual } else { names };
    names
        .iter()
        .map(|name| {
            dissensus_measure::metric(name).ok_or_else(|| {
                anyhow::anyhow!("there is no metric {name:?}; `dissensus metrics list` lists them")
            })
        })
        .collect()
}

/// A number for a table: four significant places, ∞ and – where they belong.
pub(crate) fn number(value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        Some(v) if v.is_infinite() => if v > 0.0 { "∞" } else { "-∞" }.to_owned(),
        Some(v) if v != 0.0 && v.abs() < 1e-4 => format!("{v:.1e}"),
        Some(v) => format!("{v:.4}"),
    }
}
