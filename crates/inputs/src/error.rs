//! What can be wrong with inputs: what was expected, what came, where, and what to do.

use dissensus_core::MatchError;
use dissensus_io::{Problem, ReadError, ReadOption, shorten};
use thiserror::Error;

/// Why there are no inputs, or why they do not fit the votes.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InputError {
    #[error(transparent)]
    Read(ReadError),
    #[error(transparent)]
    Data(#[from] dissensus_data::Error),
    #[error("{file}: {error}")]
    Io { file: String, error: std::io::Error },
    /// Nothing that inputs come in.
    #[error(
        "{file}: expected a .npy, .npz or .safetensors file, a table with an id column, or a folder \
         of PNG or JPEG files; found {seen}"
    )]
    Unknown { file: String, seen: String },
    #[error("{file} is read as {format}, for which the option `{option}` means nothing; remove it")]
    Inapplicable { file: String, format: &'static str, option: ReadOption },
    #[error(
        "{file}: expected at least one item with at least one value, found the shape {shape:?}"
    )]
    Empty { file: String, shape: Vec<usize> },
    #[error(
        "{file}: expected [items, width] (feature vectors), [items, height, width] or [items, \
         height, width, channels] with 1 or 3 channels (images), found the shape {shape:?}"
    )]
    Shape { file: String, shape: Vec<usize> },
    /// Columns that are not those of training.
    #[error(
        "{file}: its {found} columns of features are not the {expected} that the model was trained on; \
         missing: {missing}; not among them: {extra}"
    )]
    Columns { file: String, expected: usize, found: usize, missing: String, extra: String },
    #[error(
        "{name}: {found} bytes do not make images of {height} × {width} with {channels} \
         channels; expected a multiple of their product, and 1 or 3 channels"
    )]
    Pixels { name: String, height: usize, width: usize, channels: usize, found: usize },
    #[error(
        "{file}: the shape {shape:?} may be items × height × width × channels or items × channels \
         × height × width; say which with layout = \"nhwc\" or \"nchw\""
    )]
    Ambiguous { file: String, shape: Vec<usize> },
    #[error(
        "{file}: an array of 3 or 4 axes holds images, whose values come as bytes (uint8, 0 to \
         255), found {found}; convert it, for values from 0 to 1 with (x * \
         255).round().astype(\"uint8\")"
    )]
    NotBytes { file: String, found: String },
    #[error("{file}: expected {wanted}; the arrays in it are {found}; name one with `key`")]
    NoArray { file: String, wanted: String, found: String },
    #[error("{file}: {found} could all be meant; say which with `key`")]
    SeveralArrays { file: String, found: String },
    #[error("{file}: there is no column {name:?} (option `{option}`): the columns are {columns}")]
    NoSuchColumn { file: String, option: ReadOption, name: String, columns: String },
    #[error(
        "{file}: the column {column:?} looks like an answer, not like a feature; leave it out with \
         `skip`, or rename it"
    )]
    Answer { file: String, column: String },
    #[error(
        "{file}, {place}, column {column:?}: expected a number, found {text:?}; leave the column \
         out with `skip`, or mend the cell"
    )]
    NotANumber {
        file: String,
        /// The row, and its id where there is one.
        place: String,
        column: String,
        text: String,
    },
    #[error("{file}, {place}, column {column:?}: expected {expected}, found {text}")]
    NotAList {
        file: String,
        /// The row, and its id where there is one.
        place: String,
        column: String,
        expected: String,
        text: String,
    },
    /// NaN, an infinity, or a number beyond `f32`.
    #[error(
        "{file}, {place}, column {column:?}: {value} is not a finite 32-bit float; mend it, or \
         leave the row out"
    )]
    NotFinite {
        file: String,
        /// The row, and its id where there is one.
        place: String,
        column: String,
        value: f64,
    },
    #[error("{file}: {ids} ids for {rows} rows; give each row one id")]
    IdCount { file: String, ids: usize, rows: usize },
    #[error("{file}: ids are a list of texts or whole numbers, found {found}")]
    BadIds { file: String, found: String },
    #[error("{file}, {place}: the id is empty; give the row one")]
    EmptyId { file: String, place: String },
    #[error("{file}: {first} and {second} have the same id {id:?}; give every item one row")]
    DuplicateId { file: String, id: String, first: String, second: String },
    #[error(
        "{file}: {found} {what} are more than the limit of {limit}; make the images smaller, or \
         raise limits.cells"
    )]
    TooMany { file: String, what: &'static str, found: u64, limit: u64 },
    #[error("{file}: expected PNG or JPEG files, found {found}")]
    NoImages {
        file: String,
        /// What is there, and what to do.
        found: String,
    },
    #[error("{file}: not a readable PNG or JPEG file: {why}")]
    Decode { file: String, why: String },
    #[error(
        "{file} has {found:?} pixels (height, width), {first} has {expected:?}; all images must \
         have one size: say which with resize = [height, width]"
    )]
    Size { file: String, found: (usize, usize), first: String, expected: (usize, usize) },
    #[error("resize = {found:?}: expected [height, width], each between 1 and {most}")]
    Resize { found: [usize; 2], most: usize },
    /// An image that would lose something as 8-bit grey or RGB.
    #[error("{file} has {what}; expected 8-bit grey or RGB: {remedy}")]
    Lossy { file: String, what: &'static str, remedy: &'static str },
    #[error("the dataset '{name}' has no images here; those that do are: {known}")]
    WithoutImages { name: String, known: String },
    #[error("the files of '{name}' do not make one table of votes: {file}: {problem}")]
    Parts {
        name: String,
        /// The file that does not fit.
        file: String,
        problem: String,
    },
    #[error("{missing} of the {of} items of '{name}' have no text, or not all of theirs: {ids}")]
    WithoutTexts { name: String, missing: usize, of: usize, ids: String },
    #[error("{file}: expected {expected}, found {found}; download the dataset '{name}' again")]
    Dataset { name: &'static str, file: String, expected: &'static str, found: String },
    #[error("blends cannot be made: {0}")]
    Blends(String),
    #[error("{name}: {source}{}", advice_on(source))]
    Match { name: String, source: MatchError },
    #[error("{file}: the ids could be in {found}, but no name says so")]
    UnclearIds { file: String, found: String },
    #[error(
        "{first} are {first_kind}, and {second} {second_kind}; they must be alike to stand in one \
         set"
    )]
    Unlike { first: String, first_kind: String, second: String, second_kind: String },
}

fn advice_on(error: &MatchError) -> &'static str {
    match error {
        MatchError::Rows { .. } | MatchError::NoIds { .. } => {
            "; give the inputs ids: a column `id`, or `ids` in an .npz"
        }
        MatchError::NoneShared { .. } => "; name the id column of the inputs with `id`",
        MatchError::RowNumbers { .. } => "",
    }
}

/// Containers speak of votes where they know nothing better; that one message is said anew.
impl From<ReadError> for InputError {
    fn from(error: ReadError) -> Self {
        match error.problem {
            Problem::UnknownFormat { seen } => Self::Unknown { file: error.file, seen },
            _ => Self::Read(error),
        }
    }
}

impl InputError {
    /// The option of reading that avoids the error; the message names it as `` `id` ``.
    pub fn option(&self) -> Option<ReadOption> {
        match self {
            Self::Inapplicable { option, .. } | Self::NoSuchColumn { option, .. } => Some(*option),
            Self::Ambiguous { .. } => Some(ReadOption::Layout),
            Self::NoArray { .. } | Self::SeveralArrays { .. } => Some(ReadOption::Key),
            Self::Size { .. } | Self::Resize { .. } => Some(ReadOption::Resize),
            Self::UnclearIds { .. } => Some(ReadOption::Id),
            Self::Match { source, .. } => match source {
                MatchError::NoneShared { .. } | MatchError::RowNumbers { .. } => {
                    Some(ReadOption::Id)
                }
                MatchError::NoIds { .. } => Some(ReadOption::ByPosition),
                MatchError::Rows { .. } => None,
            },
            Self::Answer { .. } => Some(ReadOption::Skip),
            _ => None,
        }
    }

    pub(crate) fn io(file: &std::path::Path, error: std::io::Error) -> Self {
        Self::Io { file: file.display().to_string(), error }
    }

    pub(crate) fn array(file: &str, problem: Problem) -> Self {
        Self::Read(ReadError::new(file, problem))
    }
}

/// `row 3, id "b"`, for messages.
pub(crate) fn place(row: impl std::fmt::Display, id: Option<&str>) -> String {
    match id {
        Some(id) => format!("row {row}, id {:?}", shorten(id)),
        None => format!("row {row}"),
    }
}

/// The first few names of a list, for messages.
pub(crate) fn listed<S: AsRef<str>>(names: &[S]) -> String {
    const MOST: usize = 12;
    let shown: Vec<&str> = names.iter().take(MOST).map(AsRef::as_ref).collect();
    match names.len() {
        0 => "none".to_owned(),
        n if n > MOST => format!("{} and {} more", shown.join(", "), n - MOST),
        _ => shown.join(", "),
    }
}
