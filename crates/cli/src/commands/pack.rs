//! `dissensus pack`

use std::path::PathBuf;
use std::process::ExitCode;

use dissensus_store::{PackOptions, Store, pack};

use crate::ui::{self, paint, text};

/// Put a store into one file, to carry it to another machine.
///
/// Specs, histories, predictions, results and studies go in, of all runs that have ended; checkpoints
/// and weights, which are most of a store, stay. `dissensus unpack` adds it to a store there.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder of runs
    #[arg(value_name = "STORE", env = "DISSENSUS_STORE")]
    store: PathBuf,
    /// The file to write [default: STORE.pack]
    #[arg(value_name = "FILE")]
    out: Option<PathBuf>,
    /// The weights of every run's selected epoch, too
    #[arg(long)]
    weights: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let store = Store::open(&args.store)?;
    let out = args.out.clone().unwrap_or_else(|| args.store.with_extension("pack"));
    let packed = pack(&store, &out, PackOptions { best_weights: args.weights })?;
    let size = std::fs::metadata(&out).map_or(0, |about| about.len());
    ui::err(&format!(
        "{} runs and {} studies, {} in {} files, as {}\n",
        text::thousands(packed.runs.len() as u64),
        packed.studies.len(),
        text::size(packed.bytes),
        text::thousands(packed.files as u64),
        text::size(size)
    ));
    for (name, reason) in &packed.left_out {
        ui::err(&format!("{} {name}: {reason}\n", paint::warn("left out:")));
    }
    ui::out(&format!("{}\n", out.display()))?;
    Ok(ExitCode::SUCCESS)
}
