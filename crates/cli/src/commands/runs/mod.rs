//! `dissensus runs …`

mod list;
mod rm;
mod show;
mod store;
mod words;

use std::process::ExitCode;

pub(crate) use store::{StoreArgs, hinted, quoted};
pub(crate) use words::state_name;

/// The runs of a store: what there is, everything about one, and removal.
///
/// Without a subcommand, lists them. Runs are named by 16 hex digits; so many from the start that
/// no other run begins with them are enough everywhere.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: list::Args,
}

#[derive(clap::Subcommand)]
enum Command {
    /// List all runs, the oldest first
    List(list::Args),
    /// Show everything about a run: settings, curves, figures, files
    Show(show::Args),
    /// Remove runs
    Rm(rm::Args),
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.command {
        None => list::run(&args.list),
        Some(Command::List(args)) => list::run(args),
        Some(Command::Show(args)) => show::run(args),
        Some(Command::Rm(args)) => rm::run(args),
    }
}
