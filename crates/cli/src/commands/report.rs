//! `dissensus report`

use std::path::PathBuf;
use std::process::ExitCode;

use dissensus::store::Store;
use dissensus::studies::{PlanOptions, StudyError};
use dissensus::{Error, study};

use crate::args::context;
use crate::ui::report;

/// Write the tables and figures of a study, and a page.
///
/// Writes a folder with index.html, one self-contained page that opens from disk; every table as
/// Markdown, LaTeX and CSV; every figure as SVG, PNG and PDF, with its data as CSV; and the results
/// with the study that gave them.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The folder of runs
    #[arg(value_name = "STORE", env = "DISSENSUS_STORE")]
    store: PathBuf,
    /// The study, if the store has several; or a file, for other tables of the same runs
    #[arg(long, value_name = "NAME|FILE")]
    study: Option<String>,
    /// The folder to write [default: STORE-report]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write into a folder that holds other files than a report of the study; files of the same names are replaced
    #[arg(long)]
    force: bool,
    /// Open the page in a browser
    #[arg(long)]
    open: bool,
}

const EXAMPLES: &str = "\
Examples:
  dissensus study run demo --store runs && dissensus report runs --open
  dissensus report runs --study demo --out paper
  dissensus report runs --study other-tables.toml

Exit codes: 0 all is written; 1 a table or figure could not be made; 2 the store is wrong, or has
less than the study asks for.";

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let store = Store::open(&args.store)?;
    let study = study::stored(&store, args.study.as_deref())?;
    let out = report::folder(&args.store, args.out.as_deref());
    dissensus::report::check_folder(&out, &study.name, args.force)?;
    let plan = study::plan(&study, &PlanOptions::default(), &context()).map_err(|error| {
        let load = matches!(error, Error::Study(StudyError::Load { .. }));
        let why = "a report needs the study's data, where its file names them from this folder";
        if load { anyhow::Error::from(error).context(why) } else { error.into() }
    })?;
    let written = report::write_and_say(&plan, &store, args.out.as_deref(), args.force)?;
    if args.open {
        report::open(&written.page)?;
    }
    Ok(report::code(&written))
}
