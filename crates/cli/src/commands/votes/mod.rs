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
    ///
    /// The distribution is what training aims at. `frequencies` and `dirichlet` are formulas. `dawid_skene`
    /// fits a model in which every item has one true class, and every annotator votes for class l on an item
    /// of class k with a probability of their own: it shows the shares of the classes, the confusion matrices,
    /// the accuracy of each annotator, the log-likelihood, and whether the fit converged. Where people disagree
    /// for good reason, it makes the targets far more certain than the votes. --json has all numbers, with the
    /// targets of the items. `dissensus deliver` and `dissensus train` take the same targets.
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
