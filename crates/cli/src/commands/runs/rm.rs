//! `dissensus runs rm RUN…`

use std::io::{BufRead as _, IsTerminal as _};

use dissensus::train::Removal;

use crate::args::StoreArgs;
use crate::ui::{self, paint, text};

/// Remove runs with all their files.
///
/// If one of the runs is being trained, none is removed. A removed run is trained again when a spec
/// or study contains it.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The runs: their ids, or the first digits of them
    #[arg(value_name = "RUN", required_unless_present = "failed")]
    ids: Vec<String>,
    /// Also remove all failed runs
    #[arg(long)]
    failed: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    store: StoreArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let store = args.store.open()?;
    let chosen = Removal::choose(&store, &args.ids, args.failed)?;
    if chosen.is_empty() {
        ui::err("no run has failed, so there is nothing to remove\n");
        return Ok(());
    }
    let total = text::size(chosen.iter().map(|run| run.bytes).sum());
    let what = format!("{} ({total})", text::count(chosen.len(), "run", "runs"));
    if !args.yes && !confirmed(&chosen, &what)? {
        ui::err("nothing is removed\n");
        return Ok(());
    }
    for run in &chosen {
        store.remove(&run.id)?;
        ui::out(&format!("removed {}\n", line(run)))?;
    }
    ui::err(&format!("freed {total}\n"));
    Ok(())
}

fn line(run: &Removal) -> String {
    let size = paint::dim(&text::size(run.bytes));
    format!("{}  {}  {size}", run.id, text::one_line(&run.label, 60))
}

/// Asks on the terminal. Where there is none, nothing is removed by accident.
fn confirmed(chosen: &[Removal], what: &str) -> anyhow::Result<bool> {
    let input = std::io::stdin();
    if !input.is_terminal() {
        let hint = paint::strong("hint:");
        anyhow::bail!(
            "standard input is not a terminal, so removal of {what} cannot be confirmed\n\
             {hint} pass --yes to remove without asking"
        );
    }
    for run in chosen {
        ui::err(&format!("  {}\n", line(run)));
    }
    ui::err(&format!("remove {what}? [y/N] "));
    let mut answer = String::new();
    input.lock().read_line(&mut answer)?;
    Ok(is_yes(&answer))
}

/// Anything but a clear yes is a no.
fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_is_a_yes() {
        assert!(["y\n", "YES\n", " yes "].into_iter().all(is_yes));
        assert!(!["", "\n", "n\n", "yeah\n", "no\n"].into_iter().any(is_yes));
    }
}
