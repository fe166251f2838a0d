//! `dissensus votes targets FILE`

use std::path::PathBuf;

use dissensus::aggregation::{AggregationReport, aggregation_page};
use dissensus::core::Keep;
use dissensus::labels::{Target, targets_help};
use dissensus::{DeliverOptions, deliver};
use serde::Serialize;

use crate::args::{VoteFileArgs, read_votes};
use crate::ui::{self, table::style};

#[derive(clap::Args)]
#[command(after_help = targets_help())]
pub(crate) struct Args {
    #[command(flatten)]
    votes: VoteFileArgs,
    /// The target with its settings, such as dawid_skene or dirichlet:alpha=0.5
    #[arg(long, value_name = "TARGET", default_value = "frequencies")]
    target: Target,
    /// How many annotators to show, those with the most votes first
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
    /// Write the targets of all items to this file: .csv or .npy
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
}

#[derive(Serialize)]
struct Found<'a> {
    file: &'a str,
    #[serde(flatten)]
    report: AggregationReport,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    dissensus::files::check_free(args.out.as_deref(), args.force)?;
    let VoteFileArgs { file, reading } = &args.votes;
    let read = read_votes(file, &reading.options(Keep::Votes))?;
    let (file, table) = (read.file.as_str(), &read.table);
    let found = args.target.estimate(table)?;
    if let Some(path) = &args.out {
        let targets = deliver(&found.targets, &"soft".parse()?, &DeliverOptions::default())?;
        targets.write_file(path, &(0..1), args.force)?;
        ui::wrote(path, "");
    }
    if args.json {
        let report = AggregationReport::new(table, &args.target, &found)?;
        return ui::json(&Found { file, report });
    }
    if !found.fit.converged {
        ui::note("the fit has not converged; a larger number of iterations lets it go on");
    }
    ui::out(&aggregation_page(file, table, &args.target, &found, args.top, &style())?)?;
    Ok(())
}
