//! What the user says about a vote file; everything else is guessed and stated.

use dissensus_core::{ClassError, ClassOrder, ClassSet, Keep, Scale};
use dissensus_io::{Delimiter, Limits, ReadOption, SourceOptions};
use serde::{Deserialize, Serialize};

/// How to read a vote file. The default guesses everything.
///
/// Every field that a user may set is a key of the same name, in a file or (with dashes) on a
/// command line; values are written as in this example. What only a program decides (`texts`,
/// `keep`, `collect`, `limits`) is no key.
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
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReadOptions {
    /// Name of the format; `None` detects it.
    pub format: Option<String>,
    /// Column of the item id: a name, or `#2` for the second column; several columns that make an item, with commas
    /// between them.
    pub item: Option<String>,
    /// Column of the annotator.
    pub annotator: Option<String>,
    /// Column (or question) of the label; where no column has this name, a value in a column of questions, whose rows
    /// are read.
    pub label: Option<String>,
    /// Column of a vote weight.
    pub weight: Option<String>,
    /// Column of the number of votes that a row stands for.
    pub count: Option<String>,
    /// Column of the items' texts.
    pub text: Option<String>,
    /// Columns of the annotators in a table with one row per item: names, or patterns such as
    /// `rater_*`.
    pub annotators: Option<Vec<String>>,
    /// Columns that hold numbers of votes, one per class: names or patterns.
    pub counts: Option<Vec<String>>,
    /// Columns of 0 and 1, one per class, in a table with one row per vote: names or patterns.
    pub one_hot: Option<Vec<String>>,
    /// Columns that are left out: names or patterns.
    pub ignore: Option<Vec<String>>,
    /// The rows that are read: `COLUMN=VALUE` or `COLUMN!=VALUE`. Of several values of a column, a row must have one,
    /// and none of those that are excluded.
    pub rows: Option<Vec<String>>,
    /// Whether texts are kept of a table that has a column of them, named or guessed. They may be much
    /// larger than the votes. Formats that always carry texts give them in any case.
    #[serde(skip)]
    pub texts: bool,
    /// Whether one label per item is what is meant: a file of reference labels.
    #[serde(skip)]
    pub reference: bool,
    /// Whether a text table's first row is its header.
    pub header: Option<bool>,
    /// The delimiter of a text table.
    pub delimiter: Option<Delimiter>,
    /// The classes and their order; any other label is an error.
    pub classes: Option<Vec<String>>,
    /// What the classes are to each other; nominal unless the file says otherwise.
    pub scale: Option<Scale>,
    /// Values that mean "no vote".
    pub missing: Option<Vec<String>>,
    /// What a vote for several labels means.
    pub multilabel: MultiLabel,
    /// The character between the labels of one vote in a cell; guessed where `multilabel` is given.
    pub separator: Option<char>,
    /// What the numbers of a matrix are.
    pub values: Option<Values>,
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

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            item: None,
            annotator: None,
            label: None,
            weight: None,
            count: None,
            text: None,
            annotators: None,
            counts: None,
            one_hot: None,
            ignore: None,
            rows: None,
            texts: false,
            reference: false,
            header: None,
            delimiter: None,
            classes: None,
            scale: None,
            missing: None,
            multilabel: MultiLabel::default(),
            separator: None,
            values: None,
            keep: Keep::Votes,
            collect: false,
            limits: Limits::default(),
        }
    }
}

impl ReadOptions {
    /// How the file is opened.
    pub fn source(&self) -> SourceOptions {
        SourceOptions { delimiter: self.delimiter, header: self.header, limits: self.limits }
    }

    /// The options that were given, but for the format and what only a program decides.
    pub fn given(&self) -> impl Iterator<Item = ReadOption> {
        let given = [
            (ReadOption::Item, self.item.is_some()),
            (ReadOption::Annotator, self.annotator.is_some()),
            (ReadOption::Label, self.label.is_some()),
            (ReadOption::Weight, self.weight.is_some()),
            (ReadOption::Count, self.count.is_some()),
            (ReadOption::Text, self.text.is_some()),
            (ReadOption::Annotators, self.annotators.is_some()),
            (ReadOption::Counts, self.counts.is_some()),
            (ReadOption::OneHot, self.one_hot.is_some()),
            (ReadOption::Ignore, self.ignore.is_some()),
            (ReadOption::Rows, self.rows.is_some()),
            (ReadOption::Header, self.header.is_some()),
            (ReadOption::Delimiter, self.delimiter.is_some()),
            (ReadOption::Classes, self.classes.is_some()),
            (ReadOption::Scale, self.scale.is_some()),
            (ReadOption::Missing, self.missing.is_some()),
            (ReadOption::Multilabel, self.multilabel != MultiLabel::Error),
            (ReadOption::Separator, self.separator.is_some()),
            (ReadOption::Values, self.values.is_some()),
        ];
        given.into_iter().filter_map(|(option, given)| given.then_some(option))
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
