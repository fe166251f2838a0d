//! `dissensus`: train and evaluate classifiers on how people actually voted.
//!
//! This crate turns arguments into options of the library `dissensus`, which does the work, and prints
//! the result. `commands/` has one file per subcommand, `args/` the options that several share, and `ui/`
//! what all of them print with. It is a library so that the Python package has the same command. Data
//! goes to standard output, everything else to standard error.

mod args;
mod commands;
mod interrupt;
mod ui;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Train and evaluate classifiers on how people actually voted.
///
/// When people label the same example they disagree, and that disagreement is information.
/// dissensus reads votes from any annotation tool, shows where people disagree, trains models on
/// the votes in several ways, and evaluates models against the votes.
#[derive(Parser)]
#[command(name = "dissensus", version = dissensus::VERSION, after_help = AFTER_HELP)]
#[command(disable_help_subcommand = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
First steps, with the files in the folder examples of the repository:
  dissensus votes inspect examples/votes.csv
      look at votes: how many, of whom, and where people disagree
  dissensus score --votes examples/votes.csv --predictions examples/soft.csv
      score a model against the votes
  dissensus train examples/train.toml
      train models on the votes, and compare ways of doing so

`dissensus demo` shows a whole study on generated data; `dissensus COMMAND --help` explains a command.

Exit codes: 0 done; 1 the linter found errors, or a run failed; 2 the input or the command line is
wrong; 130 training was interrupted.";

// Subcommands with arguments are described at their `Args`: a comment here would hide that text.
#[derive(Subcommand)]
enum Command {
    /// Inspect, check and convert vote files
    #[command(subcommand)]
    Votes(commands::votes::Command),
    Score(commands::score::Args),
    Train(commands::train::Args),
    Demo(commands::demo::Args),
    Compare(commands::compare::Args),
    Baseline(commands::baseline::Args),
    Runs(commands::runs::Args),
    Predict(commands::predict::Args),
    Embed(commands::embed::Args),
    Deliver(commands::deliver::Args),
    Geometry(commands::geometry::Args),
    Barrier(commands::barrier::Args),
    Cka(commands::cka::Args),
    Gradcam(commands::gradcam::Args),
    Ood(commands::ood::Args),
    /// Run whole studies: many runs from one file, with tables and figures
    #[command(subcommand)]
    Study(commands::study::Command),
    Report(commands::report::Args),
    /// Keep stores in buckets
    #[command(subcommand)]
    Store(commands::store::Command),
    Pack(commands::pack::Args),
    Unpack(commands::unpack::Args),
    /// List and explain the metrics
    #[command(subcommand)]
    Metrics(commands::metrics::Command),
    /// List and download the known datasets
    #[command(subcommand)]
    Data(commands::data::Command),
    Doctor(commands::doctor::Args),
    /// Print a completion script for a shell
    ///
    /// For example: dissensus completions bash > ~/.local/share/bash-completion/completions/dissensus
    Completions(commands::completions::Args),
}

/// Runs the command line: the name of the program and its arguments. Wrong usage and a second Ctrl-C
/// end the process.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    ui::panics::install();
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    ui::keep_arguments(&arguments);
    let cli =
        Cli::try_parse_from(arguments).unwrap_or_else(|error| ui::errors::exit_with_usage(&error));
    interrupt::running(true);
    let code = run(cli.command).unwrap_or_else(|error| ui::errors::report(&error));
    if dissensus::store::has_read_older() {
        ui::note(
            "some of the store is from before its files were bound to their runs: that they belong \
             together could not be checked",
        );
    }
    interrupt::running(false);
    code
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Demo(args) => return commands::demo::run(&args),
        Command::Votes(command) => return commands::votes::run(command),
        Command::Train(args) => return commands::train::run(&args),
        Command::Embed(args) => commands::embed::run(&args)?,
        Command::Runs(args) => commands::runs::run(&args)?,
        Command::Predict(args) => commands::predict::run(&args)?,
        Command::Score(args) => commands::score::run(&args)?,
        Command::Baseline(args) => commands::baseline::run(&args)?,
        Command::Compare(args) => commands::compare::run(&args)?,
        Command::Deliver(args) => commands::deliver::run(&args)?,
        Command::Geometry(args) => commands::geometry::run(&args)?,
        Command::Barrier(args) => commands::barrier::run(&args)?,
        Command::Cka(args) => commands::cka::run(&args)?,
        Command::Gradcam(args) => commands::gradcam::run(&args)?,
        Command::Ood(args) => commands::ood::run(&args)?,
        Command::Study(command) => return commands::study::run(command),
        Command::Report(args) => return commands::report::run(&args),
        Command::Store(command) => return commands::store::run(&command),
        Command::Pack(args) => commands::pack::run(&args)?,
        Command::Unpack(args) => return commands::unpack::run(&args),
        Command::Metrics(command) => commands::metrics::run(command)?,
        Command::Data(command) => commands::data::run(command)?,
        Command::Doctor(args) => return commands::doctor::run(&args),
        Command::Completions(args) => commands::completions::run::<Cli>(&args)?,
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }

    /// A comment at a variant would replace the text at its arguments.
    #[test]
    fn no_long_help_is_hidden() {
        let command = super::Cli::command();
        for command in command.get_subcommands().filter(|c| c.get_arguments().next().is_some()) {
            assert!(command.get_long_about().is_some(), "{} has no long help", command.get_name());
        }
    }
}
