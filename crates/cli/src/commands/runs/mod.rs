//! `dissensus runs …`

mod list;
mod rm;
mod show;

/// List, show and remove the runs of a store.
///
/// Without a subcommand, runs are listed. The id of a run has 16 hex digits; the first digits suffice
/// everywhere if no other run begins with them.
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

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    match &args.command {
        None => list::run(&args.list),
        Some(Command::List(args)) => list::run(args),
        Some(Command::Show(args)) => show::run(args),
        Some(Command::Rm(args)) => rm::run(args),
    }
}
