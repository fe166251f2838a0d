//! What the user says about a vote file; everything else is guessed and stated.

use dissensus_core::{ClassError, ClassOrder, ClassSet, Keep, Scale};
pub use dissensus_io::ReadOption;
use dissensus_io::{Delimiter, Limits, SourceOptions};
use serde::{Deserialize, Serialize};

/// Writes the list of options: the fields of [`ReadOptions`], and what is said of them everywhere.
macro_rules! options {
    (
        $(#[$about:meta])*
        $($field:ident: $type:ty, $option:ident, $value:literal, $expected:expr, $choices:expr,
            $help:literal;)*
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct ReadOptions {
            $(
                #[doc = $help]
                pub $field: $type,
            )*
            /// Whether texts are kept of a table that has a column of them, named or guessed. They may be much
            /// larger than the votes. Formats that always carry texts give them in any case.
            #[serde(skip)]
            pub texts: bool,
            /// Whether one label per item is what is meant: a file of reference labels.
            #[serde(skip)]
            pub reference: bool,
            /// What to keep of the votes.
            #[serde(skip)]
            pub keep: Keep,
            /// Go on after a bad row and report it as a finding, instead of stopping there.
            #[serde(skip)]
            pub collect: bool,
            /// The largest things that are read.
            #[serde(skip)]
            pub limits: Limits,
        }

        /// The options that a user may give, in the order in which they are shown.
        pub const OPTIONS: &[OptionEntry] = &[$(OptionEntry {
            option: ReadOption::$option,
            takes: <$type as Field>::TAKES,
            value: $value,
            expected: $expected,
            choices: $choices,
            help: $help,
        },)*];

        impl Default for ReadOptions {
            fn default() -> Self {
                Self {
                    $($field: Default::default(),)*
                    texts: false,
                    reference: false,
                    keep: Keep::Votes,
                    collect: false,
                    limits: Limits::default(),
                }
            }
        }

        impl ReadOptions {
            /// Sets an option of the list; an error says what is expected.
            pub fn set(&mut self, option: ReadOption, given: Given) -> Result<(), String> {
                match option {
                    $(ReadOption::$option => self.$field = Field::of(given)?,)*
                    other => return Err(format!("{other} is no option of reading votes")),
                }
                Ok(())
            }

            /// The options of the list that are set, with their values.
            pub fn values(&self) -> Vec<(ReadOption, Given)> {
                let all = [$((ReadOption::$option, self.$field.given()),)*];
                all.into_iter().filter_map(|(option, given)| Some((option, given?))).collect()
            }
        }
    };
}

const COLUMN: &str = "the name of a column";
const COLUMNS: &str = "a column or a pattern of columns, or a list of them";

options! {
    /// How to read a vote file. The default guesses everything.
    ///
    /// [`OPTIONS`] lists the fields that a user may set: each is a key of the same name in a study, an argument
    /// in Python and (with dashes) an option of the command line. What only a program decides (`texts`,
    /// `reference`, `keep`, `collect`, `limits`) is none.
    ///
    /// ```
    /// use dissensus_votes::{MultiLabel, ReadOptions, Values};
    ///
    /// let options: ReadOptions = serde_json::from_str(r##"{
    ///     "format": "wide", "item": "#1", "label": "verdict", "delimiter": "tab", "header": true,
    ///     "classes": ["no", "yes"], "scale": "ordinal", "missing": ["-1"], "multilabel": "only=yes", "values": "counts"
    /// }"##)?;
    /// assert_eq!(options.multilabel, MultiLabel::Only("yes".to_owned()));
    /// assert_eq!(options.values, Some(Values::Counts));
    /// assert!(serde_json::from_str::<ReadOptions>(r#"{"lable": "x"}"#).is_err());
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    format: Option<String>, Format, "NAME", "the name of a format of votes", &[],
        "Read it as this format instead of detecting one";
    item: Option<String>, Item, "COLUMN", COLUMN, &[],
        "Column of the item: a name, or #2 for the second column; or several, as in doc,sentence";
    annotator: Option<String>, Annotator, "COLUMN", COLUMN, &[],
        "Column of the annotator";
    label: Option<String>, Label, "COLUMN", COLUMN, &[],
        "Column (or question) of the label; or a value in a column of questions, whose rows are read";
    weight: Option<String>, Weight, "COLUMN", COLUMN, &[],
        "Column of a vote weight";
    count: Option<String>, Count, "COLUMN", COLUMN, &[],
        "Column of the number of votes that a row stands for";
    text: Option<String>, Text, "COLUMN", COLUMN, &[],
        "Column of the items' texts";
    annotators: Option<Vec<String>>, Annotators, "COLUMN,…", COLUMNS, &[],
        "Columns of the annotators in a table with one row per item: names, or patterns such as 'rater_*'";
    counts: Option<Vec<String>>, Counts, "COLUMN,…", COLUMNS, &[],
        "Columns that hold numbers of votes, one per class: names, or patterns such as 'n_*'";
    one_hot: Option<Vec<String>>, OneHot, "COLUMN,…", COLUMNS, &[],
        "Columns of 0 and 1, one per class, in a table with one row per vote: names or patterns";
    ignore: Option<Vec<String>>, Ignore, "COLUMN,…", COLUMNS, &[],
        "Columns to leave out: names or patterns";
    rows: Option<Vec<String>>, Rows, "COLUMN=VALUE,…",
        "COLUMN=VALUE or COLUMN!=VALUE, or a list of them", &[],
        "The rows to read: COLUMN=VALUE or COLUMN!=VALUE, as in status=accepted";
    classes: Option<Vec<String>>, Classes, "A,B,…", "a list of names, at least 2", &[],
        "The classes in order, separated by commas; any other label is an error";
    scale: Option<Scale>, Scale, "SCALE", r#""nominal", "ordinal" or "multilabel""#, &[],
        "The scale of the classes: nominal (names), ordinal (grades, lowest first) or multilabel (a vote is for any number of classes) [default: nominal, unless the file states another]";
    missing: Option<Vec<String>>, Missing, "V,…", "a value, or a list of values", &[],
        "Values that mean \"no vote\", separated by commas";
    values: Option<Values>, Values, "WHAT", "text that is not empty", &Values::NAMES,
        "The meaning of the numbers of a matrix: counts, probabilities, or labels (items × annotators)";
    multilabel: MultiLabel, Multilabel, "RULE", r#""error", "each", "votes" or "only=CLASS""#, &[],
        "How to count a vote for several labels: error, each (a share for each label), votes (a vote for each), or only=CLASS [default: error]";
    separator: Option<char>, Separator, "CHAR", "one character", &[],
        "The character between the labels of one vote, as in \"a;b\" [default: guessed where --multilabel is given]";
    delimiter: Option<Delimiter>, Delimiter, "CHAR", "one character, or \"tab\"", &[],
        "The delimiter of a text table: one character, or `tab`";
    header: Option<bool>, Header, "", "true or false", &[],
        "The first row of the table is its header";
}

/// An option of reading votes: its name, and what is said of it on the command line and in errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionEntry {
    /// The option.
    pub option: ReadOption,
    /// What its value is.
    pub takes: Takes,
    /// Its value in a line of help, such as `COLUMN`.
    pub value: &'static str,
    /// The values that it takes, in words.
    pub expected: &'static str,
    /// The names that it takes; none where it takes other values.
    pub choices: &'static [&'static str],
    /// What it says, in a sentence.
    pub help: &'static str,
}

/// What the value of an option is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// A text that is not empty.
    Text,
    /// A character, or a word for one.
    Character,
    /// One text or several.
    List,
    /// Yes or no.
    Flag,
}

/// The value of an option, as a user gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// A text.
    Text(String),
    /// Several texts.
    List(Vec<String>),
    /// Yes or no.
    Flag(bool),
}

/// A field that a user may set.
trait Field: Sized {
    const TAKES: Takes;
    fn of(given: Given) -> Result<Self, String>;
    fn given(&self) -> Option<Given>;
}

/// Fields that are written as one text.
macro_rules! texts {
    ($($type:ty, $takes:ident, $text:expr;)*) => {
        $(impl Field for Option<$type> {
            const TAKES: Takes = Takes::$takes;
            fn of(given: Given) -> Result<Self, String> {
                match given {
                    Given::Text(text) => text.parse().map(Some).map_err(|e| format!("{e}")),
                    _ => Err("expected a text".to_owned()),
                }
            }
            fn given(&self) -> Option<Given> {
                let text: fn($type) -> String = $text;
                self.clone().map(|value| Given::Text(text(value)))
            }
        })*
    };
}

texts! {
    String, Text, |text| text;
    Scale, Text, |scale| scale.name().to_owned();
    Values, Text, |values| values.name().to_owned();
    char, Character, |letter| letter.to_string();
    Delimiter, Character, String::from;
}

impl Field for MultiLabel {
    const TAKES: Takes = Takes::Text;
    fn of(given: Given) -> Result<Self, String> {
        match given {
            Given::Text(text) => text.parse(),
            _ => Err("expected a text".to_owned()),
        }
    }
    fn given(&self) -> Option<Given> {
        (*self != Self::Error).then(|| Given::Text(self.clone().into()))
    }
}

impl Field for Option<Vec<String>> {
    const TAKES: Takes = Takes::List;
    fn of(given: Given) -> Result<Self, String> {
        match given {
            Given::Text(text) => Ok(Some(vec![text])),
            Given::List(list) => Ok(Some(list)),
            Given::Flag(_) => Err("expected a list of texts".to_owned()),
        }
    }
    fn given(&self) -> Option<Given> {
        self.clone().map(Given::List)
    }
}

impl Field for Option<bool> {
    const TAKES: Takes = Takes::Flag;
    fn of(given: Given) -> Result<Self, String> {
        match given {
            Given::Flag(flag) => Ok(Some(flag)),
            _ => Err("expected true or false".to_owned()),
        }
    }
    fn given(&self) -> Option<Given> {
        self.map(Given::Flag)
    }
}

impl ReadOptions {
    /// How the file is opened.
    pub fn source(&self) -> SourceOptions {
        SourceOptions { delimiter: self.delimiter, header: self.header, limits: self.limits }
    }

    /// The options that were given, but for the format and what only a program decides.
    pub fn given(&self) -> impl Iterator<Item = ReadOption> {
        let options = self.values().into_iter().map(|(option, _)| option);
        options.filter(|option| *option != ReadOption::Format)
    }

    /// Whether a vote may be for several labels, whatever is made of them.
    pub fn takes_several(&self) -> bool {
        self.multilabel != MultiLabel::Error || self.keeps_sets()
    }

    /// Whether the labels of a vote are kept together.
    pub fn keeps_sets(&self) -> bool {
        self.scale == Some(Scale::MultiLabel)
    }

    /// Whether a vote for none of the classes is one, too.
    pub(crate) fn takes_none(&self) -> bool {
        matches!(self.multilabel, MultiLabel::Only(_)) || self.keeps_sets()
    }

    /// The declared classes as a class set.
    pub fn class_set(&self) -> Result<Option<ClassSet>, ClassError> {
        let names = self.classes.clone();
        names.map(|names| ClassSet::new(names, ClassOrder::Declared)).transpose()
    }
}

/// What a vote for several labels means.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum MultiLabel {
    /// An error that names the item.
    #[default]
    Error,
    /// Every label gets an equal share of the vote.
    Each,
    /// Every label is a vote of its own, of the annotator where one is named.
    Votes,
    /// One class against the rest: `CLASS` or `not CLASS`.
    Only(String),
}

impl std::str::FromStr for MultiLabel {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("only=")) {
            ("error", _) => Ok(Self::Error),
            ("each", _) => Ok(Self::Each),
            ("votes", _) => Ok(Self::Votes),
            (_, Some(class)) if !class.is_empty() => Ok(Self::Only(class.to_owned())),
            _ => Err("expected `error`, `each`, `votes` or `only=CLASS`".to_owned()),
        }
    }
}

impl TryFrom<String> for MultiLabel {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<MultiLabel> for String {
    fn from(rule: MultiLabel) -> Self {
        match rule {
            MultiLabel::Error => "error".to_owned(),
            MultiLabel::Each => "each".to_owned(),
            MultiLabel::Votes => "votes".to_owned(),
            MultiLabel::Only(class) => format!("only={class}"),
        }
    }
}

/// What the numbers of a matrix are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Values {
    /// Items × classes: how many votes.
    Counts,
    /// Items × classes: shares that sum to 1.
    Probabilities,
    /// Items × annotators: the class that each chose.
    Labels,
}

impl Values {
    /// Their names.
    pub const NAMES: [&str; 3] = ["counts", "probabilities", "labels"];

    /// The name.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

impl std::str::FromStr for Values {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "counts" => Ok(Self::Counts),
            "probabilities" => Ok(Self::Probabilities),
            "labels" => Ok(Self::Labels),
            _ => Err("expected `counts`, `probabilities` or `labels`".to_owned()),
        }
    }
}
