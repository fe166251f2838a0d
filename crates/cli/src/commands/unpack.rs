//! `dissensus unpack`

use std::path::PathBuf;
use std::process::ExitCode;

use dissensus_store::unpack;
use dissensus_studies::files;

use crate::ui::{self, paint, text};

/// Add what is in a pack to a store.
///
/// A store that is not there is made. A run that is there and finished stays as it is; one that is
/// unfinished is replaced by the pack's finished one. Runs that are finished in both with different
/// predictions are named, and those that were there stay. Everything in the pack is checked first.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The file that `dissensus pack` wrote
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The folder of runs to add to
    #[arg(long, value_name = "DIR", env = "DISSENSUS_STORE", default_value = "runs")]
    store: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let unpacked = unpack(&args.file, &args.store)?;
    ui::out(&format!(
        "{} added, {} replaced, {} kept as they were\n",
        text::count(unpacked.added.len(), "run", "runs"),
        unpacked.replaced.len(),
        unpacked.kept.len()
    ))?;
    for (run, reason) in &unpacked.left {
        ui::err(&format!("{} {run}: {reason}\n", paint::warn("left as it is:")));
    }
    for run in &unpacked.differing {
        ui::err(&format!(
            "{} {run} is finished here and in the pack, with different predictions; the one here \
             stays\n",
            paint::warn("note:")
        ));
    }
    for study in &unpacked.studies {
        if study.differing.iter().any(|file| file == files::STUDY) {
            ui::err(&format!(
                "{} the study {} has other settings here than in the pack; those here stay, and \
                 reports are made by them\n",
                paint::warn("note:"),
                study.name
            ));
        }
        let store = args.store.display();
        ui::err(&format!("next: dissensus report {store} --study {}\n", study.name));
    }
    Ok(ExitCode::from(u8::from(!unpacked.differing.is_empty())))
}
