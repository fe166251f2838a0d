//! What was assumed or changed on the way from a file to predictions beside votes.

use std::fmt;

use serde::Serialize;

/// Something that a reader of the results should know. Prints as one line.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Note {
    /// Numbers that nobody named are taken for logits.
    Logits {
        /// The smallest of them.
        least: f64,
        /// The largest.
        most: f64,
    },
    /// The user says logits, and every row sums to 1.
    LogitsSumToOne,
    /// Rows were divided by their sums.
    Normalized {
        /// How many rows.
        rows: usize,
        /// Of how many.
        of: usize,
        /// The decimals that the file has; `None` where it is not rounded to decimals.
        decimals: Option<u32>,
        /// How far the farthest sum is from 1.
        largest: f64,
    },
    /// Rows sum to 100 and were divided by it.
    Percentages,
    /// Ids come from a column or array whose name does not say so.
    Ids {
        /// The column or array.
        name: String,
    },
    /// Ids were compared without what they are written with on one side only.
    IdForm {
        /// What was left out, in words.
        without: &'static str,
    },
    /// One number per item is the probability of one of two classes.
    Complement {
        /// The class, in words.
        class: String,
    },
    /// The shares of several answers per item are its prediction.
    Samples {
        /// The fewest answers of an item.
        least: u64,
        /// The most.
        most: u64,
    },
    /// The probabilities are the means of several predictions.
    Mean {
        /// How many.
        files: usize,
    },
    /// Class names come from an array whose name does not say so.
    ClassNames {
        /// The array.
        name: String,
    },
    /// Class names that follow from the labels that the file names beside its numbers.
    ClassesFromLabels {
        /// The classes, in the order of the columns.
        classes: Vec<String>,
    },
    /// The class map names no class of the file, which has the votes' names already.
    ClassMapNotNeeded,
    /// Columns or arrays that are not read.
    LeftOut {
        /// Their names.
        names: Vec<String>,
    },
    /// Items of the votes and of the file that are the same but for case, spaces or Unicode form. They are
    /// not matched.
    Alike {
        /// How many.
        count: usize,
        /// The first few, in words.
        first: String,
    },
    /// Items were matched by position.
    ItemsByPosition {
        /// Whether the user said so; else neither side has ids.
        said: bool,
    },
    /// Classes were not matched in the order of the file by equal names.
    Classes {
        /// How.
        matched: ClassesMatched,
        /// A name (or number) of the file and the class of the votes, in the order of the votes.
        pairs: Vec<(String, String)>,
    },
}

/// How the columns of predictions were matched with the classes of the votes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClassesMatched {
    /// By equal names.
    ByName,
    /// By names that differ in case or in what all of them begin or end with: `prob_cat`.
    BySpelling,
    /// By position, because the classes of the votes are numbered as the columns are.
    Unnamed,
    /// In the order that the user says.
    InOrder,
    /// By position, because the user says so.
    ByPosition,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Logits { least, most } => {
                write!(f, "taken for logits: the values are between {least:.4} and {most:.4}")
            }
            Self::LogitsSumToOne => {
                write!(f, "read as logits, as said, although every row sums to 1")
            }
            Self::Normalized { rows, of, decimals, largest } => {
                let far = format!("off by up to {largest:.2e}");
                write!(f, "{rows} of {of} rows do not sum to 1 ({far}) and were normalized")?;
                match decimals {
                    Some(1) => write!(f, "; the values have 1 decimal"),
                    Some(n) => write!(f, "; the values have {n} decimals"),
                    None => Ok(()),
                }
            }
            Self::Percentages => write!(f, "rows sum to 100: read as percentages"),
            Self::Ids { name } => write!(f, "ids are taken from {name:?}"),
            Self::IdForm { without } => write!(f, "ids are compared without {without}"),
            Self::Complement { class } => {
                write!(
                    f,
                    "one number per item is the probability of {class}, the other class has the rest"
                )
            }
            Self::Samples { least, most } => {
                let range =
                    if least == most { format!("{least}") } else { format!("{least} to {most}") };
                write!(
                    f,
                    "the shares of the {range} answers per item are taken as its probabilities"
                )
            }
            Self::Mean { files } => {
                write!(f, "the probabilities are the means of {files} predictions")
            }
            Self::ClassNames { name } => write!(f, "class names are taken from {name:?}"),
            Self::ClassesFromLabels { classes } => {
                let classes = classes.join(", ");
                write!(f, "the classes are {classes}, by the predicted labels in the file")
            }
            Self::ClassMapNotNeeded => {
                write!(f, "the class map is not needed: the file has the votes' names already")
            }
            Self::LeftOut { names } => write!(f, "not read: {}", names.join(", ")),
            Self::Alike { count, first } => write!(
                f,
                "{count} ids differ from those of the votes only in case, spaces or Unicode form, and are not \
                 matched: {first}"
            ),
            Self::ItemsByPosition { said: true } => {
                write!(f, "items are matched by position, as said")
            }
            Self::ItemsByPosition { said: false } => {
                write!(f, "items are matched by position: there are no ids on either side")
            }
            Self::Classes { matched, pairs } => {
                let how = match matched {
                    ClassesMatched::ByName => "classes are matched by name",
                    ClassesMatched::BySpelling => "classes are matched by similar names",
                    ClassesMatched::Unnamed => {
                        "classes are matched by position: both sides only number them"
                    }
                    ClassesMatched::InOrder => "classes are matched in the order that was said",
                    ClassesMatched::ByPosition => "classes are matched by position, as said",
                };
                let pair = |(from, to): &(String, String)| format!("{from} → {to}");
                write!(f, "{how}: {}", pairs.iter().map(pair).collect::<Vec<_>>().join(", "))
            }
        }
    }
}
