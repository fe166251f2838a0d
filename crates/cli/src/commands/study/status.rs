//! `dissensus study status`

use dissensus::core::limits::MAX_THREADS;
use dissensus::plan_study;
use dissensus::studies::StatusReport;
use dissensus::tables::status_table;

use super::Choice;
use crate::args::{context, whole};
use crate::ui::table::{Form, style};
use crate::ui::{self, paint, text};

/// Show the progress of a study: runs done, running, failed, missing, and the remaining time.
///
/// Only reads the store, so it can be used while another process trains.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) choice: Choice,
    /// Runs at a time, to estimate the remaining time [default: as many as before]
    #[arg(long, value_name = "N", value_parser = whole::<usize>(1..=MAX_THREADS as u64), allow_negative_numbers = true)]
    jobs: Option<usize>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let study = args.choice.study()?;
    let plan = plan_study(&study, &args.choice.options(), &context())?;
    let store = args.choice.open(&plan)?;
    let status = plan.status(&store, args.jobs)?;
    match args.json {
        true => ui::json(&status),
        false => Ok(ui::out(&page(&study.title, &status))?),
    }
}

fn page(title: &str, status: &StatusReport) -> String {
    let mut page = format!("{}\n", paint::title(title));
    page += &status_table(status, Form::Terminal).terminal(&style());
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
