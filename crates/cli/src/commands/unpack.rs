//! `dissensus unpack`

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use dissensus::store::unpack;
use dissensus::studies::files;

use crate::ui::{self, paint, text};

/// Add the runs and studies of packs to a store.
///
/// Packs are added one after the other; the store is created if it does not exist. A finished run of
/// the store is kept; an unfinished one is replaced by the pack's finished one. Runs that are finished
/// in both with different predictions are listed, and the store's are kept; so are runs of the store
/// that cannot be read or are being trained. The whole pack is checked before anything is added.
#[derive(clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Args {
    /// Files that `dissensus pack` wrote
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The folder of runs to add to
    #[arg(long, value_name = "DIR", env = "DISSENSUS_STORE", default_value = "runs")]
    store: PathBuf,
}

const EXIT_CODES: &str = "\
Exit codes: 0 all runs are there; 1 some were not added, as said; 2 a pack or the store is wrong.";

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (mut refused, mut studies) = (false, BTreeSet::new());
    for file in &args.files {
        let unpacked = unpack(file, &args.store)?;
        let from = match args.files.len() {
            1 => String::new(),
            _ => format!("{}: ", file.display()),
        };
        ui::out(&format!(
            "{from}{} added, {} replaced, {} kept as they were\n",
            text::count(unpacked.added.len(), "run", "runs"),
            unpacked.replaced.len(),
            unpacked.kept.len()
        ))?;
        for (run, reason) in &unpacked.left {
            ui::err(&format!("{} {run}: {reason}\n", paint::warn("left as it is:")));
        }
        for run in &unpacked.differing {
            ui::note(&format!(
                "{run} is finished here and in the pack, with different predictions; the one here \
                 stays"
            ));
        }
        for study in &unpacked.studies {
            if study.differing.iter().any(|file| file == files::STUDY) {
                ui::note(&format!(
                    "the study {} has other settings here than in the pack; those here stay, and \
                     reports are made by them",
                    study.name
                ));
            }
        }
        refused |= !unpacked.differing.is_empty() || !unpacked.left.is_empty();
        studies.extend(unpacked.studies.into_iter().map(|study| study.name));
    }
    for study in studies {
        let store = args.store.display();
        ui::err(&format!("next: dissensus report {store} --study {study}\n"));
    }
    Ok(ExitCode::from(u8::from(refused)))
}
