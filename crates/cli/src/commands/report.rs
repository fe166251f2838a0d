//! `dissensus report`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use dissensus::store::Store;
use dissensus::studies::{PlanOptions, Study, StudyError, files};

use super::study::{is_file, planned};
use crate::reporting;
use crate::ui::paint;

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
    /// Open the page in a browser
    #[arg(long)]
    open: bool,
}

const EXAMPLES: &str = "\
Examples:
  dissensus study run demo --store runs && dissensus report runs --open
  dissensus report runs --study demo --out paper
  dissensus report runs --study other-tables.toml

Exit codes: 0 all is written; 1 a table or figure could not be made; 2 the store is wrong.";

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let store = Store::open(&args.store)?;
    let study = match args.study.as_deref().filter(|study| is_file(study)) {
        Some(file) => Study::read_stored(Path::new(file))?,
        None => stored(&store, args)?,
    };
    let plan = planned(&study, &PlanOptions::default()).map_err(|error| {
        let load = matches!(error.downcast_ref(), Some(StudyError::Load { .. }));
        let why = "a report needs the study's data, where its file names them from this folder";
        if load { error.context(why) } else { error }
    })?;
    let written = reporting::write_and_say(&plan, &store, args.out.as_deref())?;
    if args.open {
        reporting::open(&written.page)?;
    }
    Ok(ExitCode::from(u8::from(!written.problems.is_empty())))
}

/// A study as it was run.
fn stored(store: &Store, args: &Args) -> anyhow::Result<Study> {
    let name = chosen(store, args)?;
    let Some(text) = store.study(&name)?.read(files::STUDY)? else {
        let path = args.store.display();
        anyhow::bail!(
            "{path} has no study {name}; run it first: dissensus study run {name} --store {path}"
        );
    };
    Ok(Study::parse_stored(&String::from_utf8_lossy(&text), &format!("the stored study {name}"))?)
}

/// The name of the study that is asked for, or of the only one.
fn chosen(store: &Store, args: &Args) -> anyhow::Result<String> {
    let all = store.studies()?;
    let path = args.store.display();
    match (&args.study, &all[..]) {
        (Some(name), _) if all.contains(name) => Ok(name.clone()),
        (Some(name), _) => {
            anyhow::bail!("{path} has no study {name:?}; it has {}", listed(&all))
        }
        (None, [one]) => Ok(one.clone()),
        (None, []) => anyhow::bail!(
            "{path} has no study; `dissensus study run NAME --store {path}` makes one, and \
             `dissensus study list` lists those that come with the program"
        ),
        (None, _) => {
            anyhow::bail!("{path} has several studies: {}; choose by --study", listed(&all))
        }
    }
}

fn listed(names: &[String]) -> String {
    match names {
        [] => paint::dim("none"),
        names => names.join(", "),
    }
}
