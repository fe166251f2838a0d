//! What can be wrong with inputs: what was expected, what came, where, and what to do.

use dissensus_core::MatchError;
use dissensus_io::{Problem, ReadError, ReadOption, shorten};
use thiserror::Error;

/// Why there are no inputs, or why they do not fit the votes.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InputError {
    /// The container (table, array, archive) cannot be read.
    #[error(transparent)]
    Read(ReadError),
    /// The catalogue or the cache says no.
    #[error(transparent)]
    Data(#[from] dissensus_data::Error),
    /// The operating system says no.
    #[error("{file}: {error}")]
    Io {
        /// The file or folder.
        file: String,
        /// Its words.
        error: std::io::Error,
    },
    /// Nothing that inputs come in.
    #[error(
        "{file}: expected a .npy, .npz or .safetensors file, a table with an id column, or a folder \
         of PNG or JPEG files; found {seen}"
    )]
    Unknown {
        /// The file.
        file: String,
        /// What was seen.
        seen: String,
    },
    /// An option that means nothing for what the file is.
    #[error("{file} is read as {format}, for which the option `{option}` means nothing; remove it")]
    Inapplicable {
        /// The file.
        file: String,
        /// How it is read.
        format: &'static str,
        /// The option.
        option: ReadOption,
    },
    /// No rows, no pixels, no columns.
    #[error(
        "{file}: expected at least one item with at least one value, found the shape {shape:?}"
    )]
    Empty {
        /// The file.
        file: String,
        /// Its shape.
        shape: Vec<usize>,
    },
    /// An array of a shape that is neither.
    #[error(
        "{file}: expected [items, width] (feature vectors), [items, height, width] or [items, \
         height, width, channels] with 1 or 3 channels (images), found the shape {shape:?}"
    )]
    Shape {
        /// The file.
        file: String,
        /// Its shape.
        shape: Vec<usize>,
    },
    /// Columns that are not those of training.
    #[error(
        "{file}: its {found} columns of features are not the {expected} that the model was trained on; \
         missing: {missing}; not among them: {extra}"
    )]
    Columns {
        /// The file.
        file: String,
        /// How many features were trained on.
        expected: usize,
        /// How many came.
        found: usize,
        /// Those that are missing.
        missing: String,
        /// Those that the model does not know.
        extra: String,
    },
    /// Pixels that do not make images.
    #[error(
        "{name}: {found} bytes do not make images of {height} × {width} with {channels} \
         channels; expected a multiple of their product, and 1 or 3 channels"
    )]
    Pixels {
        /// What they belong to.
        name: String,
        /// Rows of a image.
        height: usize,
        /// Columns of a image.
        width: usize,
        /// Channels of a pixel.
        channels: usize,
        /// How many bytes there are.
        found: usize,
    },
    /// Channels may be the second or the last axis.
    #[error(
        "{file}: the shape {shape:?} may be items × height × width × channels or items × channels \
         × height × width; say which with layout = \"nhwc\" or \"nchw\""
    )]
    Ambiguous {
        /// The file.
        file: String,
        /// Its shape.
        shape: Vec<usize>,
    },
    /// Images that are not bytes.
    #[error(
        "{file}: an array of 3 or 4 axes holds images, whose values come as bytes (uint8, 0 to \
         255), found {found}; convert it, for values from 0 to 1 with (x * \
         255).round().astype(\"uint8\")"
    )]
    NotBytes {
        /// The file.
        file: String,
        /// What its values are.
        found: String,
    },
    /// No array that could be meant.
    #[error("{file}: expected {wanted}; the arrays in it are {found}; name one with `key`")]
    NoArray {
        /// The file.
        file: String,
        /// What was looked for.
        wanted: String,
        /// The arrays there are.
        found: String,
    },
    /// More than one array that could be meant.
    #[error("{file}: {found} could all be meant; say which with `key`")]
    SeveralArrays {
        /// The file.
        file: String,
        /// The arrays.
        found: String,
    },
    /// A column that is not there.
    #[error("{file}: there is no column {name:?} (option `{option}`): the columns are {columns}")]
    NoSuchColumn {
        /// The file.
        file: String,
        /// The option that names it.
        option: ReadOption,
        /// The name.
        name: String,
        /// The columns there are.
        columns: String,
    },
    /// A column that would tell the model the answer.
    #[error(
        "{file}: the column {column:?} looks like an answer, not like a feature; leave it out with \
         `skip`, or rename it"
    )]
    Answer {
        /// The file.
        file: String,
        /// The column.
        column: String,
    },
    /// A cell that is no number.
    #[error(
        "{file}, {place}, column {column:?}: expected a number, found {text:?}; leave the column \
         out with `skip`, or mend the cell"
    )]
    NotANumber {
        /// The file.
        file: String,
        /// The row, and its id where there is one.
        place: String,
        /// The column.
        column: String,
        /// What stands there.
        text: String,
    },
    /// A list of numbers was expected.
    #[error("{file}, {place}, column {column:?}: expected {expected}, found {text}")]
    NotAList {
        /// The file.
        file: String,
        /// The row, and its id where there is one.
        place: String,
        /// The column.
        column: String,
        /// What should stand there.
        expected: String,
        /// What stands there.
        text: String,
    },
    /// NaN, an infinity, or a number beyond `f32`.
    #[error(
        "{file}, {place}, column {column:?}: {value} is not a finite 32-bit float; mend it, or \
         leave the row out"
    )]
    NotFinite {
        /// The file.
        file: String,
        /// The row, and its id where there is one.
        place: String,
        /// The column.
        column: String,
        /// The value.
        value: f64,
    },
    /// Another number of ids than of rows.
    #[error("{file}: {ids} ids for {rows} rows; give each row one id")]
    IdCount {
        /// The file.
        file: String,
        /// How many ids there are.
        ids: usize,
        /// How many rows there are.
        rows: usize,
    },
    /// Ids that are neither texts nor whole numbers.
    #[error("{file}: ids are a list of texts or whole numbers, found {found}")]
    BadIds {
        /// The file.
        file: String,
        /// What was found.
        found: String,
    },
    /// A row whose id is empty.
    #[error("{file}, {place}: the id is empty; give the row one")]
    EmptyId {
        /// The file.
        file: String,
        /// The row.
        place: String,
    },
    /// Two rows of one id.
    #[error("{file}: {first} and {second} have the same id {id:?}; give every item one row")]
    DuplicateId {
        /// The file.
        file: String,
        /// The id.
        id: String,
        /// The first row or file.
        first: String,
        /// The second.
        second: String,
    },
    /// More than is read.
    #[error(
        "{file}: {found} {what} are more than the limit of {limit}; make the images smaller, or \
         raise limits.cells"
    )]
    TooMany {
        /// The file.
        file: String,
        /// Pixel values, feature values.
        what: &'static str,
        /// How many.
        found: u64,
        /// The most that are read.
        limit: u64,
    },
    /// A folder or an index without images.
    #[error("{file}: expected PNG or JPEG files, found {found}")]
    NoImages {
        /// The folder or index.
        file: String,
        /// What is there, and what to do.
        found: String,
    },
    /// A image that cannot be read.
    #[error("{file}: not a readable PNG or JPEG file: {why}")]
    Decode {
        /// The image.
        file: String,
        /// The decoder's words.
        why: String,
    },
    /// Images of different sizes.
    #[error(
        "{file} has {found:?} pixels (height, width), {first} has {expected:?}; all images must \
         have one size: say which with resize = [height, width]"
    )]
    Size {
        /// The first image that differs.
        file: String,
        /// Its size.
        found: (usize, usize),
        /// The first image.
        first: String,
        /// Its size.
        expected: (usize, usize),
    },
    /// A size to which nothing can be brought.
    #[error("resize = {found:?}: expected [height, width], each between 1 and {most}")]
    Resize {
        /// The size asked for.
        found: [usize; 2],
        /// The largest side.
        most: usize,
    },
    /// A image that would lose something as 8-bit grey or RGB.
    #[error("{file} has {what}; expected 8-bit grey or RGB: {remedy}")]
    Lossy {
        /// The image.
        file: String,
        /// What would be lost.
        what: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// A dataset that has no images.
    #[error("the dataset '{name}' has no images here; those that do are: {known}")]
    WithoutImages {
        /// The dataset.
        name: String,
        /// Those that have.
        known: String,
    },
    /// Files of one set of votes that do not go together.
    #[error("the files of '{name}' do not make one table of votes: {file}: {problem}")]
    Parts {
        /// The set of votes.
        name: String,
        /// The file that does not fit.
        file: String,
        /// Why.
        problem: String,
    },
    /// Items of a dataset whose texts are not there.
    #[error("{missing} of the {of} items of '{name}' have no text, or not all of theirs: {ids}")]
    WithoutTexts {
        /// The set of votes.
        name: String,
        /// How many.
        missing: usize,
        /// Of how many.
        of: usize,
        /// The first of them.
        ids: String,
    },
    /// A file of a dataset that is not what the catalogue describes.
    #[error("{file}: expected {expected}, found {found}; download the dataset '{name}' again")]
    Dataset {
        /// The dataset.
        name: &'static str,
        /// The file.
        file: String,
        /// What it should be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// Generated data that cannot be made.
    #[error("blends cannot be made: {0}")]
    Blends(String),
    /// Its rows are not those of the votes.
    #[error("{name}: {source}{}", advice_on(source))]
    Match {
        /// The inputs.
        name: String,
        /// Why.
        source: MatchError,
    },
    /// Columns or arrays that could hold the ids, and nothing says which.
    #[error("{file}: the ids could be in {found}, but no name says so")]
    UnclearIds {
        /// The file.
        file: String,
        /// Their names.
        found: String,
    },
    /// Inputs of two sets that are not of one kind.
    #[error(
        "{first} are {first_kind}, and {second} {second_kind}; they must be alike to stand in one \
         set"
    )]
    Unlike {
        /// The first inputs.
        first: String,
        /// What they are.
        first_kind: String,
        /// The second inputs.
        second: String,
        /// What they are.
        second_kind: String,
    },
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
