//! `dissensus completions SHELL`

use clap::CommandFactory;

/// For example: dissensus completions bash > ~/.local/share/bash-completion/completions/dissensus
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The shell
    shell: clap_complete::Shell,
}

pub(crate) fn run<C: CommandFactory>(args: &Args) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut C::command(), "dissensus", &mut script);
    Ok(crate::ui::out(&String::from_utf8_lossy(&script))?)
}
