//! `dissensus votes …`

mod ceiling;
mod convert;
mod formats;
mod inspect;
mod lint;
mod targets;

use std::process::ExitCode;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Show what is in a vote file: items, classes, agreement, where people disagree
    Inspect(inspect::Args),
    /// Report what may be wrong with a vote file; exit code 1 if there are errors
    Lint(lint::Args),
    /// Convert votes to long CSV or Parquet, or to counts for numpy
    Convert(convert::Args),
    /// Show how well any model can score against these votes
    Ceiling(ceiling::Args),
    /// Estimate the distribution of each item, and how reliable the annotators are
    Targets(targets::Args),
    /// List the formats that can be read and written
    Formats,
}

pub(crate) fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Inspect(args) => inspect::run(&args)?,
        Command::Lint(args) => return lint::run(&args),
        Command::Convert(args) => convert::run(&args)?,
        Command::Ceiling(args) => ceiling::run(&args)?,
        Command::Targets(args) => targets::run(&args)?,
        Command::Formats => formats::run()?,
    }
    Ok(ExitCode::SUCCESS)
}
