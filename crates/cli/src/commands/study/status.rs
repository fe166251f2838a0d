//! `dissensus study status`

use dissensus::cluster::{self, ClusterStatus};
use dissensus::core::limits::MAX_THREADS;
use dissensus::studies::StatusReport;
use dissensus::tables::{cluster_table, status_table};
use dissensus::{Error, study};

use super::Choice;
use crate::args::{context, whole};
use crate::interrupt;
use crate::ui::progress::Terminal;
use crate::ui::table::{Form, style};
use crate::ui::{self, paint, text};

/// Show the progress of a study: runs done, running, failed, missing, and the remaining time.
///
/// Only reads the store, so it can be used while another process trains. Of a study that was submitted to a
/// cluster from this store, it also shows what its queue says of every shard.
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
    let plan = study::plan(&study, &args.choice.options(), &context())?;
    let location = args.choice.location()?;
    let store = location.pulled(&plan, &Terminal::default(), interrupt::cancel())?;
    let status = plan.status(&store, args.jobs)?;
    // The store says how far the study is, wherever the queue can be asked.
    let cluster = match cluster::queue(&plan, &store, &args.choice.selection()) {
        Err(Error::Cluster(error)) => {
            ui::note(&format!("the study was submitted, and {error}"));
            None
        }
        cluster => cluster?,
    };
    if args.json {
        let mut json = serde_json::to_value(&status)?;
        if let Some(cluster) = cluster {
            json["cluster"] = serde_json::to_value(cluster)?;
        }
        return ui::json(&json);
    }
    let mut text = page(&study.title, &status);
    if let Some(cluster) = cluster {
        text += &format!("\n{}", queue(&cluster));
    }
    Ok(ui::out(&text)?)
}

/// What the queue and the store say of shards.
fn queue(cluster: &ClusterStatus) -> String {
    let jobs = cluster.jobs.join(", ");
    let cancelled = if cluster.cancelled { ", cancelled" } else { "" };
    let title = format!("{}: jobs {jobs}{cancelled}", cluster.system);
    let table = cluster_table(cluster, Form::Terminal).terminal(&style());
    let finish = cluster.finish.as_ref().map_or("not in the queue", |task| &task.state);
    format!("{}\n{table}last step: {finish}\n", paint::title(&title))
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
