//! `dissensus pack`

use std::path::PathBuf;

use dissensus::store::{PackOptions, Store, pack};

use crate::ui::{self, paint, report::beside, text};

/// Pack a store into one file, to copy it to another machine.
///
/// The pack has specs, histories, predictions, results and studies of all runs that have ended, but no
/// checkpoints or weights, which take most of the space. `dissensus unpack` adds it to another store.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder of runs
    #[arg(value_name = "STORE", env = "DISSENSUS_STORE")]
    store: PathBuf,
    /// The file to write [default: STORE.pack]
    #[arg(value_name = "FILE")]
    out: Option<PathBuf>,
    /// Include the weights of every run's selected epoch
    #[arg(long)]
    weights: bool,
    /// Replace an existing file, even one that is no earlier pack of the same runs
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let store = Store::open(&args.store)?;
    let out = args.out.clone().unwrap_or_else(|| beside(&args.store, ".pack"));
    // The folder is synced, too, so it must have a name: that of a bare file name has none.
    let file = std::path::absolute(&out)?;
    let packed =
        pack(&store, &file, PackOptions { best_weights: args.weights, force: args.force })?;
    let size = std::fs::metadata(&out).map_or(0, |about| about.len());
    ui::err(&format!(
        "{} and {}, {} in {}, as {}\n",
        text::count(packed.runs.len(), "run", "runs"),
        text::count(packed.studies.len(), "study", "studies"),
        text::size(packed.bytes),
        text::count(packed.files, "file", "files"),
        text::size(size)
    ));
    for (name, reason) in &packed.left_out {
        ui::err(&format!("{} {name}: {reason}\n", paint::warn("left out:")));
    }
    Ok(ui::out(&format!("{}\n", out.display()))?)
}
