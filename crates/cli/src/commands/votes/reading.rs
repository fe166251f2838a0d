//! The options that say how to read a vote file, shared by every command that reads one.

use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use dissensus_core::Keep;
use dissensus_io::Delimiter;
use dissensus_votes::formats::FORMATS;
use dissensus_votes::{MultiLabel, ReadError, ReadOptions, Values, VoteFile, read_with_progress};

use crate::ui::progress::ReadingBar;

/// A vote file as the first argument, and how to read it.
#[derive(clap::Args)]
pub(crate) struct ReadArgs {
    /// The vote file; `-` is standard input; .gz and .zst are unpacked
    pub(crate) file: PathBuf,
    #[command(flatten)]
    how: HowArgs,
}

impl ReadArgs {
    pub(crate) fn options(&self, keep: Keep) -> ReadOptions {
        self.how.options(keep)
    }

    pub(crate) fn read(&self, options: &ReadOptions) -> Result<VoteFile, ReadError> {
        read(&self.file, options)
    }
}

/// How to read a vote file.
#[derive(clap::Args)]
pub(crate) struct HowArgs {
    /// Read it as this format instead of detecting one
    #[arg(long, value_name = "NAME", value_parser = names(), help_heading = READING, hide_possible_values = true)]
    format: Option<String>,
    /// Column of the item: a name, or #2 for the second column
    #[arg(long, value_name = "COLUMN", help_heading = READING)]
    item: Option<String>,
    /// Column of the annotator
    #[arg(long, value_name = "COLUMN", help_heading = READING)]
    annotator: Option<String>,
    /// Column (or question) of the label
    #[arg(long, value_name = "COLUMN", help_heading = READING)]
    label: Option<String>,
    /// Column of a vote weight
    #[arg(long, value_name = "COLUMN", help_heading = READING)]
    weight: Option<String>,
    /// The classes in order, separated by commas; any other label is an error
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', help_heading = READING)]
    classes: Option<Vec<String>>,
    /// Values that mean "no vote", separated by commas
    #[arg(long, value_name = "V,…", value_delimiter = ',', allow_hyphen_values = true, help_heading = READING)]
    missing: Option<Vec<String>>,
    /// What the numbers of a matrix are: counts, probabilities, or labels (items × annotators)
    #[arg(long, value_name = "WHAT", help_heading = READING)]
    values: Option<Values>,
    /// What a vote for several labels means: error, each, or only=CLASS
    #[arg(long, value_name = "RULE", default_value = "error", help_heading = READING)]
    multilabel: MultiLabel,
    /// The delimiter of a text table: one character, or `tab`
    #[arg(long, value_name = "CHAR", help_heading = READING)]
    delimiter: Option<Delimiter>,
    /// The table has no header row
    #[arg(long, help_heading = READING)]
    no_header: bool,
}

const READING: &str = "Reading";

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(FORMATS.iter().map(|format| format.name))
}

impl HowArgs {
    pub(crate) fn options(&self, keep: Keep) -> ReadOptions {
        ReadOptions {
            format: self.format.clone(),
            item: self.item.clone(),
            annotator: self.annotator.clone(),
            label: self.label.clone(),
            weight: self.weight.clone(),
            text: None,
            texts: false,
            header: self.no_header.then_some(false),
            delimiter: self.delimiter,
            classes: self.classes.clone(),
            missing: self.missing.clone(),
            multilabel: self.multilabel.clone(),
            values: self.values,
            keep,
            ..ReadOptions::default()
        }
    }
}

/// Reads a vote file, with a progress bar where it takes long.
pub(crate) fn read(path: &Path, options: &ReadOptions) -> Result<VoteFile, ReadError> {
    read_with_progress(path, options, &ReadingBar::default())
}
