//! `dissensus store …`

mod sync;

use std::process::ExitCode;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    Sync(sync::Args),
}

pub(crate) fn run(command: &Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Sync(args) => sync::run(args),
    }
}
