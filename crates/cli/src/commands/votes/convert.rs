//! `dissensus votes convert IN OUT`

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use dissensus::core::{Ballots, Keep};
use dissensus::votes::write::{TARGETS, Target, WriteError, target_of, write, write_file};

use crate::args::VoteFileArgs;
use crate::ui::{self, text};

/// Write votes in a canonical form.
///
/// `.csv` and `.parquet` are long tables with every vote and the texts of the items; `.npz` holds counts
/// for numpy, without texts. What is written reads back to the same table. The file appears whole or not
/// at all, and an existing one is only replaced with --force. `-` writes CSV to standard output.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    votes: VoteFileArgs,
    /// The file to write: .csv, .parquet or .npz; `-` is standard output
    out: PathBuf,
    /// The format to write, whatever the file's name
    #[arg(long, value_name = "FORM", value_parser = forms())]
    to: Option<String>,
    /// Leave out the texts of the items
    #[arg(long)]
    without_texts: bool,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
}

fn forms() -> PossibleValuesParser {
    PossibleValuesParser::new(TARGETS.iter().map(|target| target.name))
}

impl Args {
    fn target(&self) -> Result<&'static Target, WriteError> {
        let default = (self.out.as_os_str() == "-").then_some("csv");
        match self.to.as_deref().or(default) {
            Some(name) => TARGETS
                .iter()
                .find(|target| target.name == name)
                .ok_or_else(|| WriteError::UnknownTarget { path: self.out.clone() }),
            None => target_of(&self.out),
        }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let (target, to_stdout) = (args.target()?, args.out.as_os_str() == "-");
    // Before a long read.
    dissensus::files::check_free(Some(&args.out), args.force || to_stdout)?;
    let keep = if target.name == "npz" { Keep::Counts } else { Keep::Votes };
    let texts = !args.without_texts;
    let read = args.votes.reading.read_with_texts(&args.votes.file, keep, texts)?;
    let texts = if texts { read.texts } else { Vec::new() };
    let table = read.table;
    if to_stdout {
        let mut bytes = std::io::Cursor::new(Vec::new());
        write(&table, &texts, target, &mut bytes)?;
        return Ok(ui::data(&bytes.into_inner())?);
    }
    write_file(&table, &texts, &args.out, target, args.force)?;
    let votes = match (table.counts(), table.ballots()) {
        (Some(counts), _) => Some(counts.total()),
        (None, Ballots::Votes(votes)) => Some(votes.len() as u64),
        (None, _) => None,
    };
    let counted = |votes| format!("{} votes", text::thousands(votes as usize));
    let votes = votes.map_or("probabilities".to_owned(), counted);
    let (items, classes) = (text::thousands(table.len()), table.classes().len());
    ui::wrote(&args.out, &format!("{items} items, {classes} classes, {votes}"));
    Ok(())
}
