//! `dissensus votes inspect FILE`

use std::path::PathBuf;

use dissensus::core::Keep;
use dissensus::pages;
use dissensus::report::figures::Form;
use dissensus::votes::lint::warnings;
use dissensus::votes::summary::{Summary, summarize};
use dissensus::votes::{Finding, Note};
use serde::Serialize;

use super::lint::print_finding;
use crate::args::{VoteFileArgs, read_votes};
use crate::ui::{self, table::style, text};

/// Show what is in a vote file.
///
/// The format is detected from the content and the columns are guessed from known names; what was
/// guessed is printed, and options override every guess.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    votes: VoteFileArgs,
    /// How many of the most ambiguous items to show [default: 5; of at most 12 items, all]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
    /// Draw the entropy of the items as an SVG file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Replace the SVG file if it exists
    #[arg(long)]
    force: bool,
}

#[derive(Serialize)]
struct Inspection<'a> {
    file: &'a str,
    format: &'a str,
    notes: &'a [Note],
    warnings: Vec<Finding>,
    #[serde(flatten)]
    summary: &'a Summary,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    dissensus::files::check_free(args.svg.as_deref(), args.force)?;
    let VoteFileArgs { file, reading } = &args.votes;
    let read = read_votes(file, &reading.options(Keep::Votes))?;
    let few = read.table.len() <= dissensus::pages::FEW_ITEMS;
    let top = args.top.unwrap_or(if few { dissensus::pages::FEW_ITEMS } else { 5 });
    let summary = summarize(&read.table, &read.texts, top);
    if let Some(path) = &args.svg {
        let svg =
            dissensus::pages::votes_figure(text::file_name(&read.file), &summary).svg(Form::File);
        dissensus::files::write_bytes(path, args.force, svg.as_bytes())?;
        ui::wrote(path, "");
    }
    let (file, format) = (read.file.as_str(), read.format.name);
    let (notes, warnings) = (&read.notes[..], warnings(&read));
    if args.json {
        return ui::json(&Inspection { file, format, notes, warnings, summary: &summary });
    }
    let mut page = pages::votes_page(file, notes, &summary, &style());
    warnings.iter().try_for_each(|warning| print_finding(&mut page, warning))?;
    ui::out(&page)?;
    if summary.may_be_ratings() && reading.given().scale.is_none() {
        ui::remark("the classes are read as names; if they are ratings, --scale ordinal says so");
    }
    Ok(())
}
