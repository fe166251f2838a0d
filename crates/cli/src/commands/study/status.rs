//! `dissensus study status`

use dissensus::plan_study;
use dissensus::store::Store;
use dissensus::studies::{StatusReport, Tally};
use dissensus::tables::status_table;
use serde_json::json;

use super::Choice;
use crate::args::{at_least_one, context};
use crate::ui::table::{Form, STYLE};
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

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let study = args.choice.study()?;
    let plan = plan_study(&study, &args.choice.options(), &context())?;
    let store = Store::open(&args.choice.store)?;
    let status = plan.status(&store, args.jobs.and_then(|jobs| usize::try_from(jobs).ok()))?;
    match args.json {
        true => ui::json(&as_json(&status)),
        false => Ok(ui::out(&page(&study.title, &status))?),
    }
}

fn page(title: &str, status: &StatusReport) -> String {
    let mut page = format!("{}\n", paint::title(title));
    page += &status_table(status, Form::Terminal).terminal(&STYLE);
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
