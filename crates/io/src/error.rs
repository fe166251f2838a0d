//! What can be wrong with a file: a named problem, and where it stands.

use std::fmt;

use dissensus_core::{BuildError, ClassError, CountsError, DistributionError, TableError};
use thiserror::Error;

use crate::options::ReadOption;

/// A problem in a source, with its place. Prints as one line: file, row, column, what is wrong.
#[derive(Debug)]
pub struct ReadError {
    /// The file, as the user named it.
    pub file: String,
    /// Row from 1; the header of a table is row 1, a line of JSON Lines its line.
    pub row: Option<u64>,
    /// The column, key or array.
    pub column: Option<String>,
    /// The item, where it is known.
    pub item: Option<String>,
    /// What is wrong.
    pub problem: Problem,
    /// What the file holds and how it can be read, where that was found out.
    pub advice: Option<Box<Advice>>,
}

/// What a refused file holds, and the readings of it that are certain but for a word.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Advice {
    /// One line per column of a table.
    pub profile: Vec<String>,
    /// Readings that were tried and are certain.
    pub ways: Vec<Way>,
}

/// Options by which a file that was refused is read.
#[derive(Clone, Debug, PartialEq)]
pub struct Way {
    /// The options, by the names of [`ReadOption`], as in a file of options.
    pub options: serde_json::Map<String, serde_json::Value>,
    /// What it gives: `95 items × 22 annotators`.
    pub gives: String,
}

impl ReadError {
    /// A problem with a whole file.
    pub fn new(file: impl Into<String>, problem: impl Into<Problem>) -> Self {
        let problem = problem.into();
        Self { file: file.into(), row: None, column: None, item: None, problem, advice: None }
    }

    /// Adds the row.
    pub fn row(mut self, row: u64) -> Self {
        self.row = Some(row);
        self
    }

    /// Adds the column.
    pub fn column(mut self, column: impl Into<String>) -> Self {
        self.column = Some(column.into());
        self
    }

    /// Adds the item.
    pub fn item(mut self, item: impl Into<String>) -> Self {
        self.item = Some(item.into());
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_place(f, &self.file, self.row, self.column.as_deref(), self.item.as_deref())?;
        write!(f, ": {}", self.problem)
    }
}

// The message says everything, the operating system's words included: there is no source to add.
impl std::error::Error for ReadError {}

/// Writes where in a file something is: `votes.csv, row 3, column "label", item "7"`.
pub fn write_place(
    out: &mut impl fmt::Write,
    file: &str,
    row: Option<u64>,
    column: Option<&str>,
    item: Option<&str>,
) -> fmt::Result {
    write!(out, "{file}")?;
    if let Some(row) = row {
        write!(out, ", row {row}")?;
    }
    if let Some(column) = column {
        write!(out, ", column {:?}", shorten(column))?;
    }
    if let Some(item) = item {
        write!(out, ", item {:?}", shorten(item))?;
    }
    Ok(())
}

/// The first part of a text, so that a message with a wild value in it stays readable.
pub fn shorten(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// What can be wrong.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Problem {
    /// The operating system says no.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// Nothing in it.
    #[error("the file is empty")]
    Empty,
    /// A table without rows, a document without items.
    #[error("there are no votes in it")]
    NoVotes,
    /// Not UTF-8.
    #[error("not UTF-8 text (byte {byte:#04x})")]
    Encoding {
        /// The first byte that does not fit.
        byte: u8,
    },
    /// A byte-order mark of another encoding.
    #[error("the text is encoded in {encoding}, not UTF-8")]
    Utf16 {
        /// The encoding's name.
        encoding: &'static str,
    },
    /// A line, document or array that is larger than allowed.
    #[error("{what} is larger than {limit} bytes")]
    TooLarge {
        /// What is.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// More of something than allowed.
    #[error("there are more than {limit} {what}")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// A row with another number of cells than the header.
    #[error("{found} cells where {expected} are expected: {text:?}")]
    Ragged {
        /// The row, shortened.
        text: String,
        /// Cells in the header.
        expected: usize,
        /// Cells in this row.
        found: usize,
    },
    /// A quoted field that never ends.
    #[error("a quoted field is not closed")]
    OpenQuote,
    /// Malformed JSON.
    #[error("malformed JSON: {0}")]
    Json(String),
    /// JSON of another shape than the format has.
    #[error("expected {expected}, found {found}")]
    Shape {
        /// What should stand here.
        expected: &'static str,
        /// What stands here, shortened.
        found: String,
    },
    /// Several things could be meant, or none of those named.
    #[error("expected {expected}, found {}", found.join(", "))]
    Choice {
        /// What is to be chosen.
        expected: &'static str,
        /// What there is to choose from.
        found: Vec<String>,
        /// The option that chooses.
        option: ReadOption,
    },
    /// No format fits.
    #[error("no known vote format fits: {seen}")]
    UnknownFormat {
        /// What was seen.
        seen: String,
    },
    /// A file that is known not to be readable, named for what it is.
    #[error("{what}")]
    NotRead {
        /// What it is, in one sentence.
        what: String,
        /// What to do.
        remedy: Option<&'static str>,
    },
    /// A name that is not a format's.
    #[error("there is no format {name:?}")]
    NoSuchFormat {
        /// The name.
        name: String,
    },
    /// The forced format does not fit the file.
    #[error("this is not {format}: {seen}")]
    NotThisFormat {
        /// The format asked for.
        format: &'static str,
        /// What was seen.
        seen: String,
    },
    /// An option that the format does not use.
    #[error("`{option}` has no meaning in the format {format}")]
    UnusedOption {
        /// The option.
        option: ReadOption,
        /// The format's name.
        format: &'static str,
    },
    /// Something that could be meant in several ways, or can hardly be meant as it was guessed.
    #[error("{doubt}")]
    Doubt {
        /// What is open or odd, in one sentence.
        doubt: String,
        /// The options that say what is meant.
        options: &'static [ReadOption],
        /// What to do, with options in backticks.
        remedy: &'static str,
    },
    /// No column for a role.
    #[error("cannot tell which column holds the {role}: the columns are {columns}")]
    NoColumn {
        /// item, annotator, label, …
        role: &'static str,
        /// The columns there are.
        columns: String,
    },
    /// A column that the user named for two roles.
    #[error("the column {name:?} cannot be both the {first} and the {second}")]
    TwoRoles {
        /// The name.
        name: String,
        /// One role.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// A column that the user named and that is not there.
    #[error("there is no column {name:?}: the columns are {columns}")]
    NoSuchColumn {
        /// The name.
        name: String,
        /// The columns there are.
        columns: String,
    },
    /// Two columns of one name.
    #[error("two columns are named {name:?}")]
    DuplicateColumn {
        /// The name.
        name: String,
    },
    /// A cell without the value it must have.
    #[error("the {role} is empty")]
    EmptyCell {
        /// item, annotator, label, …
        role: &'static str,
    },
    /// A number was expected.
    #[error("{text:?} is not a number")]
    NotANumber {
        /// What stands there.
        text: String,
    },
    /// A vote count that is no count.
    #[error("{text:?} is not a number of votes (a whole number, 0 or more)")]
    NotACount {
        /// What stands there.
        text: String,
    },
    /// A row of probabilities that is no distribution.
    #[error(transparent)]
    NotADistribution(#[from] DistributionError),
    /// An item that stands in two rows where each should have one.
    #[error("item {id:?} appears twice")]
    DuplicateItem {
        /// The id.
        id: String,
    },
    /// A vote that the table refuses.
    #[error(transparent)]
    Vote(#[from] BuildError),
    /// Counts that no table holds.
    #[error(transparent)]
    Counts(#[from] CountsError),
    /// Parts that do not make a table, or a table that is not on the scale.
    #[error(transparent)]
    Table(#[from] TableError),
    /// One annotator chose several labels.
    #[error("several labels in one vote: {text:?}")]
    MultiLabel {
        /// The labels.
        text: String,
    },
    /// Two lists that belong together have different lengths.
    #[error("{left} has {left_len} entries, {right} has {right_len}")]
    Unequal {
        /// One list.
        left: String,
        /// Its length.
        left_len: usize,
        /// The other.
        right: String,
        /// Its length.
        right_len: usize,
    },
    /// A malformed or unsupported array file.
    #[error("not a readable array: {0}")]
    Array(String),
    /// A malformed or hostile archive.
    #[error("not a readable archive: {0}")]
    Archive(String),
    /// A malformed or unsupported Parquet file.
    #[error("not a readable Parquet file: {0}")]
    Parquet(String),
    /// A pickle that asks for more than arrays.
    #[error("the pickle in it wants {wanted}, which is never run")]
    UnsafePickle {
        /// What it asked for.
        wanted: String,
    },
    /// A malformed pickle.
    #[error("not a readable pickle: {0}")]
    Pickle(String),
}

impl Problem {
    /// A short name that does not change, for machines and tests.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io(_) => "io",
            Self::Empty => "empty-file",
            Self::NoVotes => "no-votes",
            Self::Encoding { .. } => "encoding",
            Self::Utf16 { .. } => "utf-16",
            Self::TooLarge { .. } => "too-large",
            Self::TooMany { .. } => "too-many",
            Self::Ragged { .. } => "ragged-row",
            Self::OpenQuote => "open-quote",
            Self::Json(_) => "json",
            Self::Shape { .. } | Self::Choice { .. } => "shape",
            Self::UnknownFormat { .. } => "unknown-format",
            Self::NotRead { .. } => "not-read",
            Self::NoSuchFormat { .. } => "no-such-format",
            Self::NotThisFormat { .. } => "not-this-format",
            Self::UnusedOption { .. } => "unused-option",
            Self::Doubt { .. } => "doubt",
            Self::NoColumn { .. } => "no-column",
            Self::NoSuchColumn { .. } => "no-such-column",
            Self::TwoRoles { .. } => "two-roles",
            Self::DuplicateColumn { .. } => "duplicate-column",
            Self::EmptyCell { .. } => "empty-cell",
            Self::NotANumber { .. } => "not-a-number",
            Self::NotACount { .. } => "not-a-count",
            Self::NotADistribution(_) => "not-a-distribution",
            Self::DuplicateItem { .. } => "duplicate-item",
            Self::Vote(BuildError::UnknownClass { .. }) => "unknown-class",
            Self::Vote(_) | Self::Counts(_) => "vote",
            Self::Table(
                TableError::Classes(_) | TableError::Scale(_) | TableError::Labels { .. },
            ) => "scale",
            Self::Table(_) => "table",
            Self::MultiLabel { .. } => "multi-label",
            Self::Unequal { .. } => "unequal-lists",
            Self::Array(_) => "array",
            Self::Archive(_) => "archive",
            Self::Parquet(_) => "parquet",
            Self::UnsafePickle { .. } => "unsafe-pickle",
            Self::Pickle(_) => "pickle",
        }
    }

    /// What the user can do about it, where that can be said. Options of reading are written as
    /// `` `label` `` or `` `values = counts` ``; [`options`](Self::options) lists them.
    pub fn remedy(&self) -> Option<&'static str> {
        Some(match self {
            Self::Encoding { .. } => "convert it first, for example: iconv -f latin1 -t utf-8",
            Self::Utf16 { .. } => "convert it first, for example: iconv -f utf-16 -t utf-8",
            Self::Ragged { .. } => {
                "quote cells that hold the delimiter, or name it with `delimiter`"
            }
            Self::OpenQuote => "close the quote, or escape a quote inside a field by doubling it",
            Self::UnknownFormat { .. } => {
                "name the format with `format`, or the columns with `item`, `annotator` and `label`"
            }
            Self::NoColumn { .. } | Self::NoSuchColumn { .. } | Self::TwoRoles { .. } => {
                "name the columns with `item`, `annotator` and `label` (a name, or #2 for the second)"
            }
            Self::NotADistribution(_) => {
                "if these are vote counts, say so with `values = counts`; else normalize each row"
            }
            Self::Vote(BuildError::UnknownClass { .. }) => "add it to `classes`, or mend the label",
            Self::Table(TableError::Classes(
                ClassError::Unordered { .. } | ClassError::NotAscending { .. },
            )) => "list the classes from the lowest to the highest in `classes`",
            Self::DuplicateItem { .. } => "give every item one row, or an id of its own",
            Self::MultiLabel { .. } => {
                "choose with `multilabel`: `each` (every label a share of the vote), `votes` (every label \
                 a vote of its own) or `only=CLASS` (one class against the rest), or keep them together \
                 with `scale = multilabel`; `separator` is the character between labels; a class that is \
                 written so is listed in `classes`"
            }
            Self::UnusedOption { .. } => "leave it out, or name another format with `format`",
            Self::Doubt { remedy, .. } => remedy,
            Self::NotRead { remedy, .. } => return *remedy,
            Self::Choice { option: ReadOption::Item, .. } => "say which with `item`",
            Self::Choice { option: ReadOption::Annotator, .. } => "say which with `annotator`",
            Self::Choice { .. } => "name it with `label`",
            Self::UnsafePickle { .. } | Self::Pickle(_) => {
                "save the arrays from Python with numpy.savez and read the .npz instead"
            }
            Self::NotACount { .. } => {
                "if these are probabilities, say so with `values = probabilities`"
            }
            _ => return None,
        })
    }

    /// The options that the remedy names.
    pub fn options(&self) -> &'static [ReadOption] {
        use ReadOption::{
            Annotator, Classes, Delimiter, Format, Item, Label, Multilabel, Scale, Separator,
            Values,
        };
        match self {
            Self::Ragged { .. } => &[Delimiter],
            Self::UnknownFormat { .. } => &[Format, Item, Annotator, Label],
            Self::NoSuchFormat { .. } => &[Format],
            Self::NoColumn { .. } | Self::NoSuchColumn { .. } | Self::TwoRoles { .. } => {
                &[Item, Annotator, Label]
            }
            Self::NotADistribution(_) | Self::NotACount { .. } => &[Values],
            Self::Vote(BuildError::UnknownClass { .. }) => &[Classes],
            Self::Table(TableError::Classes(_)) => &[Classes],
            Self::MultiLabel { .. } => &[Multilabel, Scale, Separator, Classes],
            Self::UnusedOption { .. } => &[Format],
            Self::Doubt { options, .. } => options,
            Self::Choice { option: Item, .. } => &[Item],
            Self::Choice { option: Annotator, .. } => &[Annotator],
            Self::Choice { .. } => &[Label],
            _ => &[],
        }
    }
}
