//! `dissensus votes convert IN OUT`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use dissensus::core::Keep;
use dissensus::io::FileError;
use dissensus::votes::write::{TARGETS, Target, WriteError, target_of, write, write_file};

use super::reading::ReadArgs;
use crate::ui::{self, text};

/// Write votes in a canonical form.
///
/// `.csv` and `.parquet` are long tables with every vote, `.npz` holds counts for numpy. What is
/// written reads back to the same table. The file appears whole or not at all, and an existing one
/// is only replaced with --force. `-` writes CSV to standard output.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    read: ReadArgs,
    /// The file to write: .csv, .parquet or .npz; `-` is standard output
    out: PathBuf,
    /// The format to write, whatever the file's name
    #[arg(long, value_name = "FORM", value_parser = forms())]
    to: Option<String>,
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

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let target = args.target()?;
    let to_stdout = args.out.as_os_str() == "-";
    // Said before a long read, not after it.
    if !to_stdout && !args.force && args.out.exists() {
        return Err(FileError::Exists { path: args.out.clone() }.into());
    }
    let keep = if target.name == "npz" { Keep::Counts } else { Keep::Votes };
    let reading = args.read.read(&args.read.options(keep))?;
    if to_stdout {
        let mut bytes = std::io::Cursor::new(Vec::new());
        write(&reading.table, target, &mut bytes)?;
        ui::out_bytes(&bytes.into_inner())?;
        return Ok(ExitCode::SUCCESS);
    }
    write_file(&reading.table, &args.out, target, args.force)?;
    let table = &reading.table;
    let votes = table
        .counts()
        .map_or("probabilities".to_owned(), |c| format!("{} votes", text::thousands(c.total())));
    ui::err(&format!(
        "wrote {}: {} items, {} classes, {votes}\n",
        args.out.display(),
        text::thousands(table.len() as u64),
        table.classes().len(),
    ));
    Ok(ExitCode::SUCCESS)
}
