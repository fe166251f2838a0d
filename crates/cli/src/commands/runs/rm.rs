//! `dissensus runs rm RUN…`

use std::io::{BufRead as _, IsTerminal as _};
use std::process::ExitCode;

use dissensus::store::{RunId, State, Store, StoreError};

use super::show;
use super::store::StoreArgs;
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

/// A run to be removed.
struct Chosen {
    id: RunId,
    label: String,
    bytes: u64,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let store = args.store.open()?;
    let chosen = choose(&store, args)?;
    if chosen.is_empty() {
        ui::err("no run has failed, so there is nothing to remove\n");
        return Ok(ExitCode::SUCCESS);
    }
    let runs =
        if chosen.len() == 1 { "1 run".to_owned() } else { format!("{} runs", chosen.len()) };
    let total = text::size(chosen.iter().map(|run| run.bytes).sum());
    let what = format!("{runs} ({total})");
    if !args.yes && !confirmed(&chosen, &what)? {
        ui::err("nothing is removed\n");
        return Ok(ExitCode::SUCCESS);
    }
    for run in &chosen {
        store.remove(&run.id)?;
        ui::out(&format!("removed {}\n", run.line()))?;
    }
    ui::err(&format!("freed {total}\n"));
    Ok(ExitCode::SUCCESS)
}

impl Chosen {
    fn line(&self) -> String {
        let size = paint::dim(&text::size(self.bytes));
        format!("{}  {}  {size}", self.id, text::one_line(&self.label, 60))
    }
}

/// The runs that are meant, each once. None of them is being trained.
fn choose(store: &Store, args: &Args) -> Result<Vec<Chosen>, StoreError> {
    let mut ids = Vec::new();
    for prefix in &args.ids {
        ids.push(store.resolve(prefix)?);
    }
    let listing = store.runs()?;
    let failed = |state: &State| matches!(state, State::Failed { .. });
    if args.failed {
        let failed = listing.runs.iter().filter(|run| failed(&run.status.state));
        ids.extend(failed.map(|run| run.id.clone()));
    }
    let mut chosen: Vec<Chosen> = Vec::new();
    for id in ids {
        if chosen.iter().any(|run| run.id == id) {
            continue;
        }
        let known = listing.runs.iter().find(|run| run.id == id);
        if let Some(run) = known.filter(|run| run.status.state == State::Running) {
            return Err(StoreError::Locked { id, process: Some(run.status.process) });
        }
        let broken = listing.broken.iter().find(|run| run.id.as_ref() == Some(&id));
        let folder = known.map(|run| &run.folder).or(broken.map(|broken| &broken.folder));
        let bytes =
            folder.map_or(0, |folder| dissensus::run_files(folder).iter().map(|f| f.bytes).sum());
        let label = match known {
            Some(run) => show::label(run).unwrap_or_else(|| "a spec of another version".to_owned()),
            None => "broken".to_owned(),
        };
        chosen.push(Chosen { id, label, bytes });
    }
    Ok(chosen)
}

/// Asks on the terminal. Where there is none, nothing is removed by accident.
fn confirmed(chosen: &[Chosen], what: &str) -> anyhow::Result<bool> {
    let input = std::io::stdin();
    if !input.is_terminal() {
        let hint = paint::strong("hint:");
        anyhow::bail!(
            "standard input is not a terminal, so removal of {what} cannot be confirmed\n\
             {hint} pass --yes to remove without asking"
        );
    }
    for run in chosen {
        ui::err(&format!("  {}\n", run.line()));
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
