//! `dissensus runs show ID`

use dissensus::pages;
use dissensus::store::{RunInfo, State, Which};
use dissensus::train::RunDetails;

use crate::args::{StoreArgs, quoted};
use crate::ui::{self, paint, table::style};

/// Show everything about a run.
///
/// Shows its data and settings, its state, curves of the loss and of the selecting metric, all metrics
/// of the selected and of the last epoch, its files, and commands to use them.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The run: its id, or the first digits of it
    #[arg(value_name = "RUN")]
    id: String,
    #[command(flatten)]
    store: StoreArgs,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let info = args.store.open()?.find(&args.id)?;
    let run = RunDetails::read(&info)?;
    if args.json {
        return ui::json(&run);
    }
    ui::out(&pages::run_page(&run, &style()))?;
    let next = next(&info, &args.store);
    if !next.is_empty() {
        ui::out(&format!("\n{}\n  {}\n", paint::title("Next"), next.join("\n  ")))?;
    }
    Ok(())
}

/// What can be done with the run now.
fn next(run: &RunInfo, store: &StoreArgs) -> Vec<String> {
    let (id, flag) = (&run.id, store.flag());
    let mut lines = Vec::new();
    let path = run.predictions_path(Which::Best);
    if path.exists() {
        lines.push(format!("dissensus score --votes VOTES --predictions {}", quoted(&path)));
    }
    match &run.status.state {
        State::Finished => {
            lines.push(format!("dissensus predict {id} DATA --out predictions.npz{flag}"));
        }
        State::Running => {}
        State::Interrupted => {
            lines.push(format!(
                "train its spec again{}: it continues where it stopped",
                into(&flag)
            ));
        }
        State::Failed { .. } => {
            lines.push(format!("train its spec again{}: it starts again", into(&flag)));
        }
    }
    if run.status.state != State::Running {
        lines.push(format!("dissensus runs rm {id}{flag}"));
    }
    lines
}

fn into(flag: &str) -> String {
    if flag.is_empty() { String::new() } else { format!(" with{flag}") }
}
