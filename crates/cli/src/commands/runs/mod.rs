//! `dissensus runs …`

mod list;
mod rm;
mod show;
mod store;
mod words;

use std::process::ExitCode;

pub(crate) use store::{StoreArgs, quoted};
pub(crate) use words::state_name;

/// The runs of a store: what there is, everything about one, and removal.
///
/// Without a subcommand, lists them. A run is named by 16 hex digits; the first of them are enough
/// everywhere, as long as no other run begins with the same.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: list::ListArgs,
}

#[derive(clap::Subcommand)]
enum Command {
    List(list::ListArgs),
    Show(show::Args),
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
