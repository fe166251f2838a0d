//! Options of reading vote files, shared by all commands that read them.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::builder::PossibleValuesParser;
use dissensus::core::{Keep, Scale};
use dissensus::io::Delimiter;
use dissensus::votes::formats::FORMATS;
use dissensus::votes::{MultiLabel, ReadError, ReadOptions, Values, VoteFile, read_with_progress};
use serde_json::{Map, Value, json};

use crate::ui::{self, text};

/// A vote file as the first argument, and how to read it.
#[derive(clap::Args)]
pub(crate) struct VoteFileArgs {
    /// The vote file; `-` is standard input; .gz and .zst are unpacked
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) reading: VoteArgs,
}

/// How to read a vote file.
#[derive(clap::Args)]
pub(crate) struct VoteArgs {
    /// Read it as this format instead of detecting one
    #[arg(long, value_name = "NAME", value_parser = names(), hide_possible_values = true, help_heading = READING)]
    format: Option<String>,
    /// Column of the item: a name, or #2 for the second column; or several, as in doc,sentence
    #[arg(long, value_name = "COLUMN", help_heading = READING)]
    item: Option<String>,
    /// Column of the annotator
    #[arg(long, value_name = "COLUMN", help_heading = READING)]
    annotator: Option<String>,
    /// Column (or question) of the label; or a value in a column of questions, whose rows are read
    #[arg(long, visible_alias = "question", value_name = "COLUMN", help_heading = READING)]
    label: Option<String>,
    /// Column of a vote weight
    #[arg(long, value_name = "COLUMN", help_heading = READING)]
    weight: Option<String>,
    /// Column of the number of votes that a row stands for
    #[arg(long, value_name = "COLUMN", help_heading = READING)]
    count: Option<String>,
    /// Column of the items' texts
    #[arg(long, value_name = "COLUMN", help_heading = READING)]
    text: Option<String>,
    /// Columns of the annotators in a table with one row per item: names, or patterns such as 'rater_*'
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', help_heading = READING)]
    annotators: Option<Vec<String>>,
    /// Columns that hold numbers of votes, one per class: names, or patterns such as 'n_*'
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', help_heading = READING)]
    counts: Option<Vec<String>>,
    /// Columns of 0 and 1, one per class, in a table with one row per vote: names or patterns
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', help_heading = READING)]
    one_hot: Option<Vec<String>>,
    /// Columns to leave out: names or patterns
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', help_heading = READING)]
    ignore: Option<Vec<String>>,
    /// The rows to read: COLUMN=VALUE or COLUMN!=VALUE, as in status=accepted
    #[arg(long, value_name = "COLUMN=VALUE,…", value_delimiter = ',', help_heading = READING)]
    rows: Option<Vec<String>>,
    /// The classes in order, separated by commas; any other label is an error
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', help_heading = READING)]
    classes: Option<Vec<String>>,
    /// The scale of the classes: nominal (names), ordinal (grades, lowest first) or multilabel (a vote
    /// is for any number of classes) [default: nominal, unless the file states another]
    #[arg(long, value_name = "SCALE", value_parser = checked::<Scale>, help_heading = READING)]
    scale: Option<String>,
    /// Values that mean "no vote", separated by commas
    #[arg(long, value_name = "V,…", value_delimiter = ',', allow_hyphen_values = true, help_heading = READING)]
    missing: Option<Vec<String>>,
    /// The meaning of the numbers of a matrix: counts, probabilities, or labels (items × annotators)
    #[arg(long, value_name = "WHAT", value_parser = checked::<Values>, help_heading = READING)]
    values: Option<String>,
    /// How to count a vote for several labels: error, each (a share for each label), votes (a vote
    /// for each), or only=CLASS [default: error]
    #[arg(long, value_name = "RULE", value_parser = checked::<MultiLabel>, help_heading = READING)]
    multilabel: Option<String>,
    /// The character between the labels of one vote, as in "a;b" [default: guessed where --multilabel is given]
    #[arg(long, value_name = "CHAR", help_heading = READING)]
    separator: Option<char>,
    /// The delimiter of a text table: one character, or `tab`
    #[arg(long, value_name = "CHAR", value_parser = checked::<Delimiter>, help_heading = READING)]
    delimiter: Option<String>,
    /// The first row of the table is its header
    #[arg(long, conflicts_with = "no_header", help_heading = READING)]
    header: bool,
    /// The table has no header row
    #[arg(long, help_heading = READING)]
    no_header: bool,
}

const READING: &str = "Reading votes";

/// The text of an option, if it is one of its values.
fn checked<T: FromStr<Err = String>>(text: &str) -> Result<String, String> {
    text.parse::<T>().map(|_| text.to_owned())
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(FORMATS.iter().map(|format| format.name))
}

impl VoteArgs {
    /// Whether a scale is given.
    pub(crate) fn has_scale(&self) -> bool {
        self.scale.is_some()
    }

    /// The options that are given, by the names that a spec's `[data]` and the library have for them.
    pub(crate) fn keys(&self) -> Vec<(&'static str, Value)> {
        let mut keys = vec![
            ("format", json!(self.format)),
            ("item", json!(self.item)),
            ("annotator", json!(self.annotator)),
            ("label", json!(self.label)),
            ("weight", json!(self.weight)),
            ("count", json!(self.count)),
            ("text", json!(self.text)),
            ("annotators", json!(self.annotators)),
            ("counts", json!(self.counts)),
            ("one_hot", json!(self.one_hot)),
            ("ignore", json!(self.ignore)),
            ("rows", json!(self.rows)),
            ("classes", json!(self.classes)),
            ("scale", json!(self.scale)),
            ("missing", json!(self.missing)),
            ("values", json!(self.values)),
            ("multilabel", json!(self.multilabel)),
            ("separator", json!(self.separator)),
            ("delimiter", json!(self.delimiter)),
            ("header", json!(self.header.then_some(true).or(self.no_header.then_some(false)))),
        ];
        keys.retain(|(_, value)| !value.is_null());
        keys
    }

    pub(crate) fn options(&self, keep: Keep) -> anyhow::Result<ReadOptions> {
        let keys: Map<_, _> = self.keys().into_iter().map(|(key, v)| (key.to_owned(), v)).collect();
        let options = serde_json::from_value(keys.into())?;
        Ok(ReadOptions { keep, texts: self.text.is_some(), ..options })
    }

    /// Reads a vote file, and says in one line what was guessed.
    pub(crate) fn read(&self, path: &Path, keep: Keep) -> anyhow::Result<VoteFile> {
        self.read_with_texts(path, keep, self.text.is_some())
    }

    /// The same, with the texts of a table that has a column of them.
    pub(crate) fn read_with_texts(
        &self,
        path: &Path,
        keep: Keep,
        texts: bool,
    ) -> anyhow::Result<VoteFile> {
        let read = read_votes(path, &ReadOptions { texts, ..self.options(keep)? })?;
        if let Some(line) = read.guessed() {
            ui::remark(&text::one_line(&line, 200));
        }
        Ok(read)
    }
}

/// Reads a vote file, with a progress bar if it is large.
pub(crate) fn read_votes(path: &Path, options: &ReadOptions) -> Result<VoteFile, ReadError> {
    read_with_progress(path, options, super::context().progress)
}
