//! What the user says about a file of predictions; the rest is detected.

use std::str::FromStr;

use dissensus_io::{Delimiter, Limits, ReadOption, SourceOptions};
use serde::{Deserialize, Serialize};

/// What the numbers of a prediction are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Scores before the softmax.
    Logits,
    /// Shares that sum to 1.
    Probabilities,
}

impl Kind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Logits => "logits",
            Self::Probabilities => "probabilities",
        }
    }
}

/// What is matched with the votes by position, because the user says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ByPosition {
    /// Rows with items; ids in the file do not count.
    pub items: bool,
    /// Columns with classes; names in the file do not count.
    pub classes: bool,
}

/// Other names for classes: pairs of a name in the file and the name in the votes, written as
/// `contradiction=c,neutral=n`.
///
/// ```
/// use dissensus_predictions::ClassMap;
///
/// let map: ClassMap = "contradiction=c,neutral=n".parse()?;
/// assert_eq!(map.pairs()[1], ("neutral".to_owned(), "n".to_owned()));
/// assert!("contradiction".parse::<ClassMap>().is_err());
/// assert!("a=c,b=c".parse::<ClassMap>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ClassMap(Vec<(String, String)>);

impl ClassMap {
    /// A map of these pairs: a name in the file and the name in the votes.
    pub fn new(pairs: Vec<(String, String)>) -> Result<Self, String> {
        let mut known: Vec<(String, String)> = Vec::new();
        for (from, to) in pairs {
            if let Some((other, _)) = known.iter().find(|(f, t)| *f == from || *t == to) {
                return Err(format!(
                    "{other:?} and {from:?} do not have a class of their own each"
                ));
            }
            known.push((from, to));
        }
        Ok(Self(known))
    }

    /// A name in the file and the name in the votes, for each class that has two.
    pub fn pairs(&self) -> &[(String, String)] {
        &self.0
    }
}

impl FromStr for ClassMap {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let pair = |part: &str| {
            let names = part.split_once('=').map(|(from, to)| (from.trim(), to.trim()));
            let (from, to) = names.filter(|(from, to)| !from.is_empty() && !to.is_empty())?;
            Some((from.to_owned(), to.to_owned()))
        };
        let pairs: Option<Vec<_>> = text.split(',').map(pair).collect();
        let expected = "expected FILE=VOTES pairs, as in contradiction=c,neutral=n";
        Self::new(pairs.ok_or_else(|| expected.to_owned())?)
    }
}

impl TryFrom<String> for ClassMap {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<ClassMap> for String {
    fn from(map: ClassMap) -> Self {
        let pairs = map.0.iter().map(|(from, to)| format!("{from}={to}"));
        pairs.collect::<Vec<_>>().join(",")
    }
}

/// The classes of columns that have no names of classes.
///
/// ```
/// use dissensus_predictions::ClassOrder;
///
/// assert_eq!("by name".parse(), Ok(ClassOrder::ByName));
/// let list = ClassOrder::List(vec!["n".to_owned(), "e".to_owned()]);
/// assert_eq!("n, e".parse(), Ok(list));
/// assert!("n,n".parse::<ClassOrder>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ClassOrder {
    /// The classes of the votes sorted by name (by value where all are numbers), as scikit-learn
    /// and pandas sort them.
    ByName,
    /// The class of each column; of numbered columns (`LABEL_0`, `LABEL_1`), by their numbers. One
    /// class where the only column is its probability.
    List(Vec<String>),
}

impl FromStr for ClassOrder {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if matches!(text.trim(), "by name" | "by-name" | "by_name") {
            return Ok(Self::ByName);
        }
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        Self::list(names)
    }
}

impl ClassOrder {
    /// An order of different names.
    pub fn list(names: Vec<String>) -> Result<Self, String> {
        if names.iter().any(String::is_empty) {
            return Err("expected the class of each column, as in c,n,e, or `by name`".to_owned());
        }
        match names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
            Some((_, twice)) => Err(format!("{twice:?} is named twice")),
            None => Ok(Self::List(names)),
        }
    }
}

impl TryFrom<String> for ClassOrder {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<ClassOrder> for String {
    fn from(order: ClassOrder) -> Self {
        match order {
            ClassOrder::ByName => "by name".to_owned(),
            ClassOrder::List(names) => names.join(","),
        }
    }
}

/// What a file calls the classes of columns that it does not name, in the order of the columns, or of the
/// numbers that it gives them.
///
/// ```
/// use dissensus_predictions::ClassNames;
///
/// assert_eq!("no, yes".parse::<ClassNames>()?.names(), ["no", "yes"]);
/// let config = r#"{"model_type": "bert", "id2label": {"0": "no", "1": "yes"}}"#;
/// assert_eq!(ClassNames::of_config(config.as_bytes())?.names(), ["no", "yes"]);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ClassNames(Vec<String>);

impl ClassNames {
    /// Different names.
    pub fn new(names: Vec<String>) -> Result<Self, String> {
        match ClassOrder::list(names)? {
            ClassOrder::List(names) => Ok(Self(names)),
            ClassOrder::ByName => Err("expected the name of each class".to_owned()),
        }
    }

    /// Those of a `config.json` of Transformers: its `id2label` or `label2id`.
    #[cfg(feature = "files")]
    pub fn of_config(bytes: &[u8]) -> Result<Self, String> {
        let config = dissensus_io::json::parse(bytes).map_err(|error| error.to_string())?;
        let names = crate::label_names::in_settings(&config);
        Self::new(names.ok_or("expected `id2label` with a name for each number from 0")?)
    }

    /// The names, or those of the `config.json` at this path.
    #[cfg(feature = "files")]
    pub fn given(text: &str) -> Result<Self, String> {
        if !text.ends_with(".json") {
            return text.parse();
        }
        let input = dissensus_io::Input::open(std::path::Path::new(text));
        let bytes = input.and_then(|input| input.into_bytes(CONFIG));
        Self::of_config(&bytes.map_err(|error| error.to_string())?)
            .map_err(|words| format!("{text}: {words}"))
    }

    /// The names.
    pub fn names(&self) -> &[String] {
        &self.0
    }
}

/// Bytes of a `config.json` at the most.
#[cfg(feature = "files")]
const CONFIG: u64 = 64 << 20;

impl FromStr for ClassNames {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        Self::new(text.split(',').map(|name| name.trim().to_owned()).collect())
    }
}

impl TryFrom<String> for ClassNames {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<ClassNames> for String {
    fn from(names: ClassNames) -> Self {
        names.0.join(",")
    }
}

/// How to read a file of predictions and match it with votes. The default detects everything, and
/// refuses what it cannot be certain of. An option that means nothing for the file is an error.
///
/// Every field but `runs`, `one_column` and `limits` is a key of the same name, in a file or (with dashes) on a command
/// line; there, `kind` is the flag `--logits` or `--probabilities`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReadOptions {
    /// Logits or probabilities.
    pub kind: Option<Kind>,
    /// Column or array of the item ids: a name, or `#2` for the second column of a table.
    pub id: Option<String>,
    /// Column of lists or array that holds the predictions.
    pub key: Option<String>,
    /// The votes' names of classes that the file calls otherwise.
    pub class_map: Option<ClassMap>,
    /// What the file calls the classes of columns that it does not name.
    pub class_names: Option<ClassNames>,
    /// The classes of columns that have no names of classes.
    pub class_order: Option<ClassOrder>,
    /// Keeps the order of classes although another one fits the votes significantly better.
    pub trust_order: bool,
    /// What is matched by position.
    pub by_position: ByPosition,
    /// Whether the numbers are numbers of answers, which are divided by their sums.
    pub answers: bool,
    /// The character between several answers or numbers in a cell.
    pub answer_separator: Option<char>,
    /// The delimiter of a text table.
    pub delimiter: Option<Delimiter>,
    /// Whether a text table's first row is its header.
    pub header: Option<bool>,
    /// Several predictions for an item, as of several seeds in one table, are models of their own. Without it,
    /// they are refused.
    #[serde(skip)]
    pub runs: bool,
    /// The file is one column of a table: it has one number per item, for one class.
    #[serde(skip)]
    pub one_column: bool,
    /// The largest things that are read.
    #[serde(skip)]
    pub limits: Limits,
}

impl ReadOptions {
    pub(crate) fn source(&self) -> SourceOptions {
        SourceOptions { delimiter: self.delimiter, header: self.header, limits: self.limits }
    }

    /// The options that are set and that not every format takes.
    pub(crate) fn given(&self) -> Vec<ReadOption> {
        let all = [
            (ReadOption::Id, self.id.is_some()),
            (ReadOption::Key, self.key.is_some()),
            (ReadOption::AnswerSeparator, self.answer_separator.is_some()),
            (ReadOption::Delimiter, self.delimiter.is_some()),
            (ReadOption::Header, self.header.is_some()),
        ];
        all.into_iter().filter(|(_, set)| *set).map(|(option, _)| option).collect()
    }
}
