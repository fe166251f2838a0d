//! Train and judge classifiers on how people actually voted.

mod compare;
mod context;
mod data;
mod data_error;
mod deliver;
mod encoding;
mod error;
mod evaluate;
mod open;
mod report;
mod score;

pub use dissensus_core as core;

pub use compare::{
    Difference, ItemComparison, SeedComparison, SeedTest, compare_items, compare_seeds,
};
pub use context::LoadContext;
pub use data::{blends_material, load_material, load_task, read_inputs};
pub use data_error::DataError;
pub use deliver::{DeliverOptions, Delivered, LabelFile, SparseDraw, deliver};
pub use encoding::{ENCODERS, Source as EncoderSource, encode, open_encoder};
pub use error::Error;
pub use evaluate::{
    DEFAULT_METRICS, Evaluated, LabelProblem, ScoreError, ScoreOptions, evaluate, evaluate_common,
    metrics,
};
pub use open::find_data;
pub use report::{WrittenReport, report_tables, write_report};
pub use score::{MetricScore, Scores, score};

/// The version of this library, with the commit that it was built from where that is known.
pub const VERSION: &str = env!("DISSENSUS_VERSION");

/// The code and the machine, as they are recorded with results.
pub fn environment() -> serde_json::Value {
    serde_json::json!({
        "version": VERSION,
        "system": format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        "cores": std::thread::available_parallelism().map_or(1, usize::from),
    })
}

/// A cell of CSV, quoted where it must be.
fn csv_cell(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}
