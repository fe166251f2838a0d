//! `dissensus completions SHELL`

use std::process::ExitCode;

use clap::CommandFactory;

/// For example: dissensus completions bash > ~/.local/share/bash-completion/completions/dissensus
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The shell
    shell: clap_complete::Shell,
}

pub(crate) fn run<C: CommandFactory>(args: &Args) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut C::command(), "dissensus", &mut script);
    crate::ui::out(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
