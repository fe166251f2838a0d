//! What a study says of a table.
//!
//! A table is a pivot of the results: some dimensions go down, the others across, and a cell is the
//! mean ± sd over seeds of the rows that are left. Dimensions with one value are not shown.

use serde::{Deserialize, Serialize};

/// What results are told apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dimension {
    /// The data set.
    Dataset,
    Arm,
    /// Votes per item in training.
    K,
    Metric,
    /// The slice of items.
    Slice,
}

impl Dimension {
    /// All of them, in the order in which a default is looked for.
    pub(super) const ALL: [Self; 5] =
        [Self::Metric, Self::Arm, Self::K, Self::Dataset, Self::Slice];

    /// As a spec writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dataset => "dataset",
            Self::Arm => "arm",
            Self::K => "k",
            Self::Metric => "metric",
            Self::Slice => "slice",
        }
    }

    /// For people: what stands over the row heads.
    pub fn title(self) -> &'static str {
        match self {
            Self::Dataset => "Data set",
            Self::Arm => "Arm",
            Self::K => "Votes",
            Self::Metric => "Metric",
            Self::Slice => "Items",
        }
    }
}

/// Which paired test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TestKind {
    /// Wilcoxon's signed ranks, exact.
    #[default]
    Wilcoxon,
    /// Student's t.
    T,
}

/// Which side a test asks about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Different.
    #[default]
    Two,
    /// The arm is better than the other, by the metric's own direction.
    Better,
}

/// Which tests are corrected together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// None.
    #[default]
    None,
    /// Those of one column of the table.
    Column,
    Table,
}

/// Paired tests of every arm against one, over seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Against {
    /// The arm that the others are tested against.
    pub arm: String,
    #[serde(default)]
    pub test: TestKind,
    #[serde(default)]
    pub side: Side,
    /// Holm's correction over these.
    #[serde(default)]
    pub family: Family,
    /// Whether p before the correction is shown, too.
    #[serde(default)]
    pub raw: bool,
}

/// What a table shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shows {
    #[default]
    Results,
    /// The settings that a grid search chose; `down` and `across` are not read.
    Chosen,
    /// The data sets: items, classes, votes, entropy; only `datasets` is read.
    Datasets,
    /// The study's claims, and whether they hold; nothing else is read.
    Claims,
}

/// A table of a study.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TableSpec {
    /// Its file name, and how it is referred to: letters, digits, dashes.
    pub name: String,
    pub title: String,
    /// Words below it.
    pub note: String,
    pub shows: Shows,
    /// Dimensions that go down. Default: arm.
    pub down: Vec<Dimension>,
    /// Dimensions that go across. Default: metric.
    pub across: Vec<Dimension>,
    /// Only these data sets, in this order; empty: all. The same for the others.
    pub datasets: Vec<String>,
    /// Only these arms.
    pub arms: Vec<String>,
    /// Only these numbers of votes; `"all"` for all votes.
    pub ks: Vec<Votes>,
    /// Only these metrics.
    pub metrics: Vec<String>,
    /// Only these slices. Default: `all`.
    pub slices: Vec<String>,
    /// Paired tests.
    pub against: Option<Against>,
    /// Where arms go across, whether the change of every mean from that of the arm `against` is shown, in
    /// percent, with a last line of averages.
    pub change: bool,
    /// Whether the best of a column (of one metric) is bold where a test tells it from the others.
    /// Default: true.
    pub bold: Option<bool>,
    /// Whether published values stand beside ours, where there are any. Default: true.
    pub published: Option<bool>,
}

/// A number of votes in a spec: a number, or `"all"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "VotesText", into = "VotesText")]
pub struct Votes(pub Option<u32>);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum VotesText {
    Number(u32),
    Text(String),
}

impl TryFrom<VotesText> for Votes {
    type Error = String;

    fn try_from(from: VotesText) -> Result<Self, String> {
        match from {
            VotesText::Number(k) => Ok(Self(Some(k))),
            VotesText::Text(text) if text == "all" => Ok(Self(None)),
            VotesText::Text(text) => {
                Err(format!("votes are a number or \"all\", here they are {text:?}"))
            }
        }
    }
}

impl From<Votes> for VotesText {
    fn from(votes: Votes) -> Self {
        votes.0.map_or_else(|| Self::Text("all".into()), Self::Number)
    }
}
