//! What can be wrong with a file of predictions: a named problem, where it is, and what to do.

use std::fmt;

use dissensus_io::{Problem, ReadError, ReadOption, shorten, write_place};
use thiserror::Error;

use crate::numbers::RowProblem;

/// A problem in a file of predictions, with its place. Prints as one line: file, row, column, item,
/// what is wrong.
#[derive(Debug)]
pub struct PredictionError {
    /// The file, as the user named it.
    pub file: String,
    /// Row from 1; the header of a table is row 1, a line of JSON Lines its line.
    pub row: Option<u64>,
    /// The column, key or array.
    pub column: Option<String>,
    /// The item, where it is known.
    pub item: Option<String>,
    /// What is wrong.
    pub problem: PredictionProblem,
}

impl PredictionError {
    pub(crate) fn new(file: &str, problem: impl Into<PredictionProblem>) -> Self {
        let problem = problem.into();
        Self { file: file.to_owned(), row: None, column: None, item: None, problem }
    }

    pub(crate) fn row(mut self, row: u64) -> Self {
        self.row = Some(row);
        self
    }

    pub(crate) fn column(mut self, column: impl Into<String>) -> Self {
        self.column = Some(column.into());
        self
    }

    pub(crate) fn item(mut self, item: Option<String>) -> Self {
        self.item = item;
        self
    }
}

impl fmt::Display for PredictionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_place(f, &self.file, self.row, self.column.as_deref(), self.item.as_deref())?;
        write!(f, ": {}", self.problem)
    }
}

// The message says everything: there is no source to add.
impl std::error::Error for PredictionError {}

/// Containers speak of votes where they know nothing better; those messages are said anew.
impl From<ReadError> for PredictionError {
    fn from(error: ReadError) -> Self {
        let ReadError { file, row, column, item, problem, .. } = error;
        let problem = match problem {
            Problem::UnknownFormat { seen } => PredictionProblem::Unknown { seen },
            Problem::NoVotes => PredictionProblem::Empty,
            problem => PredictionProblem::Container(problem),
        };
        Self { file, row, column, item, problem }
    }
}

/// A row that is no distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct BadRow {
    /// Its row in the file, as in the field `row` of the error.
    pub row: u64,
    /// Its item, where it is known.
    pub item: Option<String>,
    /// What is wrong with it.
    pub problem: RowProblem,
}

impl fmt::Display for BadRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "row {}", self.row)?;
        if let Some(item) = &self.item {
            write!(f, " (item {:?})", shorten(item))?;
        }
        match self.problem {
            RowProblem::Sum { sum, whole } => write!(f, " sums to {}, not {whole}", round(sum)),
            RowProblem::Negative { column, value } => {
                write!(f, " has the negative value {value} in number {}", column + 1)
            }
            RowProblem::Above { column, value, whole } => {
                write!(f, " has the value {value}, above {whole}, in number {}", column + 1)
            }
        }
    }
}

/// A sum without the noise of its last digits.
fn round(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

fn some(rows: &[BadRow], count: usize) -> String {
    let shown: Vec<String> = rows.iter().map(ToString::to_string).collect();
    let more = if count > rows.len() { "; …" } else { "" };
    format!("{}{more}", shown.join("; "))
}

fn among(columns: &Option<String>) -> String {
    columns.as_ref().map_or(String::new(), |columns| format!(" (the columns are {columns})"))
}

/// What can be wrong.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PredictionProblem {
    /// The container (table, array, archive) cannot be read.
    #[error(transparent)]
    Container(#[from] Problem),
    /// Nothing that predictions come in.
    #[error(
        "no predictions were found in it: expected one number per class for each item, found {seen}"
    )]
    Unknown {
        /// What was seen.
        seen: String,
    },
    /// No rows.
    #[error("there are no predictions in it")]
    Empty,
    /// An option that means nothing for what the file is.
    #[error("it is read as {format}, for which the option `{option}` means nothing")]
    Inapplicable {
        /// How it is read.
        format: &'static str,
        /// The option.
        option: ReadOption,
    },
    /// Files that are no table together.
    #[error("the files are not one table: {why}")]
    NotJoined {
        /// Why.
        why: String,
    },
    /// A column or array that the user named and that is not there.
    #[error("there is no {name:?} in it (option `{option}`); there are {known}")]
    NoSuch {
        /// The option that names it.
        option: ReadOption,
        /// The name.
        name: String,
        /// What there is.
        known: String,
    },
    /// Columns or arrays that could hold the ids, and nothing says which.
    #[error("the ids could be in {found}, but no name says so")]
    UnclearIds {
        /// Their names.
        found: String,
    },
    /// Several columns of lists that could hold the predictions.
    #[error("the predictions could be in {found}")]
    SeveralValues {
        /// Their names.
        found: String,
    },
    /// One class per item.
    #[error(
        "{seen}: hard labels, which name one class per item; a prediction has a probability or a \
         logit for each class"
    )]
    HardLabels {
        /// What was seen.
        seen: String,
    },
    /// Probabilities that are only 0 and 1.
    #[error(
        "every row has one 1 and zeros otherwise: these look like hard labels. Of such predictions \
         accuracy and total variation have a meaning; soft NLL and KL are infinite wherever a person \
         disagrees, and calibration says nothing"
    )]
    OneHot,
    /// One number per item.
    #[error("{seen}: one number per item; a prediction has one for each class")]
    OneNumber {
        /// What was seen.
        seen: String,
    },
    /// A number was expected.
    #[error("{text:?} is not a number")]
    NotANumber {
        /// What stands there.
        text: String,
    },
    /// NaN or an infinity.
    #[error("{value} is not a finite number")]
    NotFinite {
        /// What stands there.
        value: f64,
    },
    /// A list of numbers was expected.
    #[error("expected {expected}, found {found}")]
    Shape {
        /// What should stand here.
        expected: &'static str,
        /// What stands here, shortened.
        found: String,
    },
    /// A row with another number of values than the first.
    #[error("{found} numbers, where the first row has {expected}")]
    Width {
        /// Numbers in the first row.
        expected: usize,
        /// Numbers in this row.
        found: usize,
    },
    /// Classes in a row that the first row does not have, or the other way round.
    #[error("the classes are {found}, those of the first row {expected}")]
    OtherClasses {
        /// The classes of the first row.
        expected: String,
        /// Those of this row.
        found: String,
    },
    /// An id that stands in two rows.
    #[error("the item {id:?} is predicted twice: it is in row {first} already")]
    DuplicateId {
        /// The id.
        id: String,
        /// The first row that has it.
        first: u64,
    },
    /// Several predictions for each item, told apart by a column of seeds.
    #[error("items are predicted several times, once for each {column:?}")]
    SeveralRuns {
        /// The column.
        column: String,
    },
    /// A row without its id.
    #[error("the id is empty")]
    EmptyId,
    /// Two names for one class.
    #[error("two columns are for the class {name:?}")]
    DuplicateClass {
        /// The class.
        name: String,
    },
    /// Names for classes that have some.
    #[error("the file names its classes itself: {classes}")]
    Named {
        /// The classes.
        classes: String,
    },
    /// Numbers that are said to be those of answers.
    #[error("{value} is no number of answers of an item")]
    NoAnswers {
        /// A number below 0 or with a fraction, or a sum of 0.
        value: f64,
    },
    /// Answers of which some are no classes.
    #[error(
        "{column:?} holds classes of the votes, and others: {}; the classes are {classes}",
        others.join(", ")
    )]
    OtherAnswers {
        /// The column.
        column: String,
        /// The first of the others.
        others: Vec<String>,
        /// The classes of the votes.
        classes: String,
    },
    /// Ids or classes that are not as many as rows or columns.
    #[error("{name} has {found} entries for {expected} {what}")]
    Count {
        /// The array of ids or classes.
        name: String,
        /// Its length.
        found: usize,
        /// How many there should be.
        expected: usize,
        /// `rows` or `columns`.
        what: &'static str,
    },
    /// A class map for a file without class names, or with other names.
    #[error("the class map names {name:?}, and {known}")]
    ClassMap {
        /// A name in the map.
        name: String,
        /// The classes of the file, in words.
        known: String,
    },
    /// A few rows that are no distributions.
    #[error("the numbers of {count} of {of} rows are not probabilities: {}", some(first, *count))]
    Rows {
        /// How many rows are wrong.
        count: usize,
        /// Of how many.
        of: usize,
        /// The first of them.
        first: Vec<BadRow>,
        /// Whether all of them only miss 1 by a little, and nobody said that they are probabilities.
        nearly: bool,
    },
    /// Values from 0 to 1 that do not sum to 1.
    #[error("all values are between 0 and 1, but rows do not sum to 1: {row}{}", among(columns))]
    NotSumming {
        /// The first such row.
        row: BadRow,
        /// The columns, where they have names.
        columns: Option<String>,
    },
    /// Values without a negative one, whose rows sum neither to 1 nor to 100.
    #[error(
        "no value is negative, and rows sum neither to 1 nor to 100: {row}{}; these may be logits, \
         counts or scores",
        among(columns)
    )]
    NonNegative {
        /// The first such row.
        row: BadRow,
        /// The columns, where they have names.
        columns: Option<String>,
    },
    /// Negative values in rows that sum to 1.
    #[error("every row sums to 1, as probabilities do, but {value} in row {row} is negative")]
    NegativeShares {
        /// The row.
        row: u64,
        /// The value.
        value: f64,
    },
    /// Distributions under the name of logits.
    #[error("the numbers are named logits, but every row sums to 1 (or 100), as probabilities do")]
    NamedLogits,
}

impl PredictionProblem {
    /// What the user can do about it, where that can be said. Options of reading are written as
    /// `` `id` `` or `` `by_position = items` ``; [`options`](Self::options) lists them.
    pub fn remedy(&self) -> Option<&'static str> {
        Some(match self {
            Self::Container(problem) => match problem {
                // Remedies that speak of columns and values of votes.
                Problem::NoColumn { .. }
                | Problem::NoSuchColumn { .. }
                | Problem::NotADistribution(_)
                | Problem::NotACount { .. } => return None,
                problem => return problem.remedy(),
            },
            Self::Unknown { .. } => {
                "give a table with an id and one column per class, or arrays `ids`, `classes` and \
                 `probabilities` in an .npz"
            }
            Self::Inapplicable { .. } => "remove the option",
            Self::UnclearIds { .. } => {
                "name the column or array of the ids with `id`, or say `by_position = items` if the \
                 rows are in the order of the votes"
            }
            Self::SeveralValues { .. } => "name the right one with `key`",
            Self::HardLabels { .. } => {
                "write the model's probabilities: predict_proba in scikit-learn, top_k=None in a \
                 Hugging Face pipeline"
            }
            Self::OneHot => "if these are the model's probabilities, say so with `probabilities`",
            Self::Named { .. } => {
                "leave `class_names` out; if these are wrong, say which is which with `class_map = FILE=VOTES`"
            }
            Self::NoAnswers { .. } => "leave `answers` out, or remove the row",
            Self::OtherAnswers { .. } => {
                "remove the rows of the others, or say which class each is with `class_map = FILE=VOTES`"
            }
            Self::OneNumber { .. } => {
                "of two classes, name the one whose probability it is with `class_order`; or write p and \
                 1 - p in two columns"
            }
            Self::NotANumber { .. } | Self::NotFinite { .. } => {
                "correct the value, or remove the row"
            }
            Self::Width { .. } | Self::OtherClasses { .. } => {
                "give every row a number for each class (top_k=None in a Hugging Face pipeline)"
            }
            Self::SeveralRuns { .. } => {
                "say `join = seeds` for the means of their probabilities, or `join = models` for models of \
                 their own"
            }
            Self::DuplicateId { .. } => {
                "keep one row per item; name what tells the predictions of an item apart in a column \
                 `model` or `seed`, or average them first"
            }
            Self::ClassMap { .. } => "write the names in the file first: `class_map = FILE=VOTES`",
            Self::Rows { nearly: true, .. } => {
                "correct these rows; or say `probabilities`, which normalizes rows that miss 1 by \
                 less than 0.005"
            }
            Self::Rows { .. } => {
                "correct or remove these rows; if all numbers are logits, say so with `logits`"
            }
            Self::NotSumming { .. } => {
                "say `logits` if these are logits; else normalize each row, and remove columns that \
                 are no classes"
            }
            Self::NonNegative { .. } => {
                "say `logits` if these are logits, or `answers` if they are numbers of answers; other scores are \
                 no predictions until they are probabilities"
            }
            Self::NegativeShares { .. } => {
                "say `logits` if these are logits; else correct the values"
            }
            Self::NamedLogits => "say which they are with `logits` or `probabilities`",
            _ => return None,
        })
    }

    /// The options that the remedy names.
    pub fn options(&self) -> &'static [ReadOption] {
        use ReadOption::{
            Answers, ByPosition, ClassMap, ClassNames, ClassOrder, Id, Join, Key, Logits,
            Probabilities,
        };
        match self {
            Self::Container(problem) => problem.options(),
            Self::UnclearIds { .. } => &[Id, ByPosition],
            Self::SeveralValues { .. } => &[Key],
            Self::OneHot => &[Probabilities],
            Self::OneNumber { .. } => &[ClassOrder],
            Self::ClassMap { .. } | Self::OtherAnswers { .. } => &[ClassMap],
            Self::Named { .. } => &[ClassNames, ClassMap],
            Self::NoAnswers { .. } => &[Answers],
            Self::SeveralRuns { .. } => &[Join],
            Self::NonNegative { .. } => &[Logits, Answers],
            Self::Rows { nearly: true, .. } => &[Probabilities],
            Self::Rows { .. } | Self::NotSumming { .. } | Self::NegativeShares { .. } => &[Logits],
            Self::NamedLogits => &[Logits, Probabilities],
            _ => &[],
        }
    }
}
