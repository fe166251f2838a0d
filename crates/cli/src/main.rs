//! `dissensus`: train and judge classifiers on how people actually voted.
//!
//! This crate is glue: arguments become options, a library does the work, the result is printed.
//! One file a subcommand in `commands/`; what all of them print with is in `ui/`. Data goes to
//! standard output, everything else to standard error.

mod commands;
mod generated;
mod judging;
mod training;
mod ui;

use std::process::ExitCode;

/// Large arrays come and go (every bootstrap replicate has its own); the system's allocator gives
/// each back to the kernel and has it cleared again, which takes a third of the time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

use clap::{Parser, Subcommand};

/// Train and judge classifiers on how people actually voted.
///
/// When people label the same example they disagree, and that disagreement is information.
/// dissensus reads votes from any annotation tool, shows where people disagree, and judges models
/// against how people actually voted.
#[derive(Parser)]
#[command(name = "dissensus", version = env!("DISSENSUS_VERSION"), after_help = AFTER_HELP)]
#[command(disable_help_subcommand = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  dissensus demo                              see it work on built-in data
  dissensus votes inspect votes.csv           what is in a vote file
  dissensus votes lint votes.csv              what may be wrong with it
  dissensus votes convert votes.csv out.npz   counts for numpy
  dissensus score --votes votes.csv --predictions model.csv

Exit codes: 0 done; 1 the linter found errors; 2 the input or the command line is wrong.";

#[derive(Subcommand)]
enum Command {
    /// Generate the built-in data and look at it
    Demo(commands::demo::Args),
    /// Look into vote files, check and convert them
    #[command(subcommand)]
    Votes(commands::votes::Command),
    /// Train models on how people voted
    Train(commands::train::Args),
    Runs(commands::runs::Args),
    Predict(commands::predict::Args),
    /// Judge predictions against how people voted
    Score(commands::score::Args),
    /// Write predictions that need no model, to score beside those of one
    Baseline(commands::baseline::Args),
    /// Compare models on the same items, or methods over paired seeds
    Compare(commands::compare::Args),
    /// Write the labels that training would see in each epoch
    Deliver(commands::deliver::Args),
    /// What is measured, and how each number is made
    #[command(subcommand)]
    Metrics(commands::metrics::Command),
    /// The datasets that dissensus knows, and where to get them
    #[command(subcommand)]
    Data(commands::data::Command),
    /// Print a completion script for a shell
    Completions(commands::completions::Args),
}

fn main() -> ExitCode {
    ui::panics::install();
    let result = match Cli::parse().command {
        Command::Demo(args) => commands::demo::run(&args),
        Command::Votes(command) => commands::votes::run(command),
        Command::Train(args) => commands::train::run(&args),
        Command::Runs(args) => commands::runs::run(&args),
        Command::Predict(args) => commands::predict::run(&args),
        Command::Score(args) => commands::score::run(&args),
        Command::Baseline(args) => commands::baseline::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Deliver(args) => commands::deliver::run(&args),
        Command::Metrics(command) => commands::metrics::run(command),
        Command::Data(command) => commands::data::run(command),
        Command::Completions(args) => commands::completions::run::<Cli>(&args),
    };
    match result {
        Ok(code) => code,
        Err(error) => ui::errors::report(&error),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
