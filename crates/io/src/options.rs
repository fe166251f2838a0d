//! Names of the options of reading, for errors that recommend one, and values that users write.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

macro_rules! options {
    ($($variant:ident $name:literal $doc:literal),* $(,)?) => {
        /// An option of reading votes, predictions or inputs. An error that an option avoids carries
        /// it as data; its name is that of the field in the reader's options, and of a key in a
        /// file. A front end words it: `--label` on a command line.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum ReadOption {
            $(#[doc = $doc] $variant,)*
        }

        impl ReadOption {
            /// All options.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

options! {
    Format "format" "The format of a vote file.",
    Item "item" "The column of the item.",
    Annotator "annotator" "The column of the annotator.",
    Label "label" "The column or question of the label.",
    Weight "weight" "The column of a vote's weight.",
    Count "count" "The column of the number of votes that a row stands for.",
    Text "text" "The column of the items' texts.",
    Annotators "annotators" "The columns of the annotators in a table with one row per item.",
    Counts "counts" "The columns that hold numbers of votes, one per class.",
    OneHot "one_hot" "The columns of 0 and 1, one per class, in a table with one row per vote.",
    Ignore "ignore" "Columns that are left out.",
    Rows "rows" "The rows that are read: those with a value in a column.",
    Classes "classes" "The classes and their order.",
    Missing "missing" "Values that mean \"no vote\".",
    Scale "scale" "What the classes are to each other: nominal, ordinal or multilabel.",
    Values "values" "What the numbers of a matrix are.",
    Multilabel "multilabel" "What a vote for several labels means.",
    Separator "separator" "The character between the labels of one vote.",
    Delimiter "delimiter" "The delimiter of a text table.",
    Header "header" "Whether the first row of a text table is its header.",
    Id "id" "The id column of inputs or predictions.",
    Key "key" "The array or column that holds inputs or predictions.",
    Logits "logits" "That the numbers of predictions are logits.",
    Probabilities "probabilities" "That the numbers of predictions are probabilities.",
    ClassMap "class_map" "The votes' names of classes that predictions call otherwise.",
    Answers "answers" "That the numbers of predictions are numbers of answers.",
    AnswerSeparator "answer_separator" "The character between several answers in a cell of predictions.",
    Join "join" "What several predictions for the same items are to each other.",
    ClassNames "class_names" "What predictions call the classes of columns that they do not name.",
    ClassOrder "class_order" "The classes of the columns of predictions, in the order of the columns.",
    TrustOrder "trust_order" "That an order of classes is right although another fits the votes better.",
    ByPosition "by_position" "That rows or columns are matched with the votes by position.",
    Layout "layout" "Where the channels of an array of images stand.",
    File "file" "The column of file names in a table of images.",
    Skip "skip" "Columns that are no features.",
    Resize "resize" "Height and width to which image files are brought.",
}

impl fmt::Display for ReadOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The character between the cells of a text table: one ASCII character, or `tab`.
///
/// ```
/// use dissensus_io::Delimiter;
/// assert_eq!("tab".parse(), Ok(Delimiter(b'\t')));
/// assert!("ab".parse::<Delimiter>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Delimiter(pub u8);

impl FromStr for Delimiter {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text.as_bytes() {
            b"tab" | b"\\t" => Ok(Self(b'\t')),
            [byte] if byte.is_ascii() => Ok(Self(*byte)),
            _ => Err("expected one character, or `tab`".to_owned()),
        }
    }
}

impl TryFrom<String> for Delimiter {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Delimiter> for String {
    fn from(Delimiter(byte): Delimiter) -> Self {
        if byte == b'\t' { "tab".to_owned() } else { char::from(byte).to_string() }
    }
}

/// How a source is opened. The default detects everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct SourceOptions {
    /// The delimiter of a text table.
    pub delimiter: Option<Delimiter>,
    /// Whether a text table's first row is its header.
    pub header: Option<bool>,
    /// The largest things that are read.
    pub limits: Limits,
}

/// The largest things that are read; what is larger is an error, not an exhausted machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one line of a table or of JSON Lines.
    pub line: u64,
    /// Bytes of a document that is read as a whole (JSON, Parquet, archives), and of all that is
    /// unpacked from it.
    pub document: u64,
    /// Cells of a matrix, values of a Parquet table.
    pub cells: u64,
    /// Votes that the counts of a file stand for, where every vote is kept.
    pub votes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { line: 16 << 20, document: 8 << 30, cells: 2 << 30, votes: 1 << 28 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for (i, option) in ReadOption::ALL.iter().enumerate() {
            assert!(ReadOption::ALL[..i].iter().all(|other| other.name() != option.name()));
        }
    }
}
