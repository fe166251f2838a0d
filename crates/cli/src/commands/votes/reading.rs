//! Options of reading vote files, shared by all commands that read them.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::builder::PossibleValuesParser;
use dissensus::core::Keep;
use dissensus::io::Delimiter;
use dissensus::votes::formats::FORMATS;
use dissensus::votes::{MultiLabel, ReadError, ReadOptions, Values, VoteFile, read_with_progress};
use serde_json::Value;

use crate::ui::progress::Terminal;

/// A vote file as the first argument, and how to read it.
#[derive(clap::Args)]
pub(crate) struct ReadArgs {
    /// The vote file; `-` is standard input; .gz and .zst are unpacked
    pub(crate) file: PathBuf,
    #[command(flatten)]
    how: ReadingArgs,
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
pub(crate) struct ReadingArgs {
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
    /// The meaning of the numbers of a matrix: counts, probabilities, or labels (items × annotators)
    #[arg(long, value_name = "WHAT", value_parser = checked::<Values>, help_heading = READING)]
    values: Option<String>,
    /// How to count a vote for several labels: error, each, or only=CLASS [default: error]
    #[arg(long, value_name = "RULE", value_parser = checked::<MultiLabel>, help_heading = READING)]
    multilabel: Option<String>,
    /// The delimiter of a text table: one character, or `tab`
    #[arg(long, value_name = "CHAR", value_parser = checked::<Delimiter>, help_heading = READING)]
    delimiter: Option<String>,
    /// The table has no header row
    #[arg(long, help_heading = READING)]
    no_header: bool,
}

const READING: &str = "Reading votes";

/// The text of an option, if it is one of its values.
fn checked<T: FromStr<Err = String>>(text: &str) -> Result<String, String> {
    text.parse::<T>().map(|_| text.to_owned())
}

fn parsed<T: FromStr>(text: &Option<String>) -> Option<T> {
    text.as_deref().and_then(|text| text.parse().ok())
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(FORMATS.iter().map(|format| format.name))
}

impl ReadingArgs {
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
            delimiter: parsed(&self.delimiter),
            classes: self.classes.clone(),
            missing: self.missing.clone(),
            multilabel: parsed(&self.multilabel).unwrap_or_default(),
            values: parsed(&self.values),
            keep,
            ..ReadOptions::default()
        }
    }

    /// The keys of a spec's `[data]` that say the same.
    pub(crate) fn keys(&self) -> Vec<(&'static str, Value)> {
        let text = |text: &Option<String>| text.clone().map(Value::from);
        let list = |list: &Option<Vec<String>>| list.clone().map(Value::from);
        let given = [
            ("format", text(&self.format)),
            ("item", text(&self.item)),
            ("annotator", text(&self.annotator)),
            ("label", text(&self.label)),
            ("weight", text(&self.weight)),
            ("classes", list(&self.classes)),
            ("missing", list(&self.missing)),
            ("values", text(&self.values)),
            ("multilabel", text(&self.multilabel)),
            ("delimiter", text(&self.delimiter)),
            ("header", self.no_header.then(|| Value::from(false))),
        ];
        given.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
    }
}

/// Reads a vote file, with a progress bar if it is large.
pub(crate) fn read(path: &Path, options: &ReadOptions) -> Result<VoteFile, ReadError> {
    read_with_progress(path, options, &Terminal::default())
}
