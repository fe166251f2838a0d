//! `dissensus baseline`

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use dissensus::core::Keep;
use dissensus::predictions::{BASELINES, Baseline};

use crate::args::{VoteArgs, whole};
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
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<u64>(0..=u64::MAX), allow_negative_numbers = true)]
    seed: u64,
    #[command(flatten)]
    reading: VoteArgs,
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(BASELINES.iter().map(|baseline| baseline.name))
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let Some(baseline) = Baseline::by_name(&args.name) else {
        anyhow::bail!("there is no baseline {:?}", args.name);
    };
    dissensus::files::check_free(args.out.as_deref(), args.force)?;
    let table = args.reading.read(&args.votes, Keep::Counts)?.table;
    let csv = dissensus::baseline_csv(baseline, &table, args.seed)?;
    match &args.out {
        None => ui::data(csv.as_bytes())?,
        Some(path) => {
            dissensus::files::write_bytes(path, args.force, csv.as_bytes())?;
            ui::wrote(path, baseline.about);
        }
    }
    Ok(())
}
