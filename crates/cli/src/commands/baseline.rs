//! `dissensus baseline`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use dissensus::core::Keep;
use dissensus::predictions::{BASELINES, Baseline};

use super::votes::reading::{self, ReadingArgs};
use crate::ui;

/// Write predictions that need no model.
///
/// Baselines put the scores of a model in context: `uniform` and `prior` ignore the item, `votes` is
/// the best possible prediction, `tempered` has the right order but is too even, `majority` ignores
/// disagreement, `random` guesses.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The baseline: uniform, prior, votes, tempered, majority or random
    #[arg(value_parser = names(), hide_possible_values = true)]
    name: String,
    /// The votes
    #[arg(long, value_name = "FILE")]
    votes: PathBuf,
    /// The CSV file to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    /// Seed of `random`
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    how: ReadingArgs,
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(BASELINES.iter().map(|baseline| baseline.name))
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let Some(baseline) = Baseline::by_name(&args.name) else {
        anyhow::bail!("there is no baseline {:?}", args.name);
    };
    let table = reading::read(&args.votes, &args.how.options(Keep::Counts))?.table;
    let csv = dissensus::baseline_csv(baseline, &table, args.seed);
    match &args.out {
        None => ui::out_bytes(csv.as_bytes())?,
        Some(path) => {
            ui::files::write_text(path, args.force, &csv)?;
            ui::err(&format!("wrote {}: {}\n", path.display(), baseline.about));
        }
    }
    Ok(ExitCode::SUCCESS)
}
