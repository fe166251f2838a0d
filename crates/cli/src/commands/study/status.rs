//! `dissensus study status`

use std::process::ExitCode;

use dissensus::store::Store;
use dissensus::studies::{StatusReport, Tally};
use serde_json::json;

use super::{Choice, at_least_one, planned};
use crate::ui::table::{Cell, Form, Print as _, Table};
use crate::ui::{self, paint, text};

/// Show the progress of a study: runs done, running, failed, missing, and the remaining time.
///
/// Only reads the store, so it can be used while another process trains.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    choice: Choice,
    /// Runs at a time, to estimate the remaining time [default: as many as before]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    jobs: Option<u64>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let study = args.choice.study()?;
    let plan = planned(&study, &args.choice.options())?;
    let store = Store::open(&args.choice.store)?;
    let status = plan.status(&store, args.jobs.and_then(|jobs| usize::try_from(jobs).ok()))?;
    match args.json {
        true => ui::out(&format!("{:#}\n", as_json(&status)))?,
        false => ui::out(&page(&study.title, &status))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn page(title: &str, status: &StatusReport) -> String {
    let mut page = format!("{}\n", paint::title(title));
    let row = |dataset: &str, arm: &str, of: &Tally| {
        let counts = [of.done, of.running, of.interrupted, of.failed, of.missing];
        let count = |n: usize| Cell::new(if n == 0 { "–".to_owned() } else { n.to_string() });
        let names = [dataset, arm].map(Cell::new).into_iter();
        names.chain(counts.map(count)).collect::<Vec<Cell>>()
    };
    let mut rows: Vec<Vec<Cell>> =
        status.arms.iter().map(|arm| row(&arm.dataset, &arm.arm, &arm.runs)).collect();
    rows.push(row("", "all, each once", &status.runs));
    let columns = ["data", "arm", "done", "running", "interrupted", "failed", "missing"];
    let columns = columns.map(str::to_owned).to_vec();
    page += &Table::new(columns, 2, rows).print(Form::Terminal);
    for failure in &status.failed {
        page += &format!("{} {}: {}\n", paint::bad("failed:"), failure.label, failure.reason);
    }
    page + &match (status.eta_seconds, status.mean_seconds) {
        _ if status.runs.left() == 0 => "all runs are done\n".to_owned(),
        _ if status.runs.left() == status.runs.failed => {
            "all runs have ended; `dissensus study run` tries those that failed again\n".to_owned()
        }
        (Some(left), Some(mean)) => format!("{} left, at {} per run\n", time(left), time(mean)),
        _ => "no run is done yet, so the remaining time is not known\n".to_owned(),
    }
}

/// Seconds for people, with tenths below ten.
fn time(seconds: f64) -> String {
    match seconds {
        short if short < 9.95 => format!("{short:.1} s"),
        long => text::duration(long.round() as u64),
    }
}

fn as_json(status: &StatusReport) -> serde_json::Value {
    let tally = |of: &Tally| {
        json!({
            "done": of.done, "running": of.running, "interrupted": of.interrupted,
            "failed": of.failed, "missing": of.missing,
        })
    };
    json!({
        "runs": tally(&status.runs),
        "arms": status.arms.iter().map(|arm| json!({
            "dataset": arm.dataset, "arm": arm.arm, "runs": tally(&arm.runs),
        })).collect::<Vec<_>>(),
        "failed": status.failed.iter().map(|failure| json!({
            "run": failure.id.to_string(), "label": failure.label, "reason": failure.reason,
        })).collect::<Vec<_>>(),
        "mean_seconds": status.mean_seconds,
        "eta_seconds": status.eta_seconds,
    })
}
