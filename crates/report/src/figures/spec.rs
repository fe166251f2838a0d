//! What a study says of a figure.

use serde::{Deserialize, Serialize};

use crate::tables::Votes;

/// What kind of figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FigureKind {
    /// Points with intervals: a panel for each metric, a group for each k or data set, a point for
    /// each arm, and one small mark for each seed.
    #[default]
    Points,
    /// A line for each arm over the number of votes (mean and interval), a panel for each metric.
    Lines,
    /// Items in bins of equal count by the column `x`; in each the mean of the column `y` with its
    /// interval, for each arm; where `against` is given, of `y` less that arm's.
    Effect,
    /// Reliability diagrams, a panel for each arm.
    Reliability,
    /// Histograms of the column `x`, one outline for each arm.
    Histogram,
    /// Column `y` against column `x` by item, a panel for each arm, with Spearman's correlation.
    Scatter,
    /// A mark for each run: every metric of `metrics` against the metric `x`, a panel each, with
    /// Spearman's correlation over the runs of each arm.
    Runs,
    /// Columns of the history over epochs: mean and range over seeds, a line for each arm.
    Curves,
    /// Items with their votes and each arm's prediction as bars.
    Pictures,
    /// Items, and beside each where the runs of each arm look.
    Maps,
}

/// A figure of a study.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FigureSpec {
    /// Its file name, and how it is referred to: letters, digits, dashes.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Words below it.
    pub note: String,
    /// What kind it is.
    pub kind: FigureKind,
    /// Only these data sets, in this order; empty: all. The same for the others.
    pub datasets: Vec<String>,
    /// Only these arms.
    pub arms: Vec<String>,
    /// Only these numbers of votes.
    pub ks: Vec<Votes>,
    /// `points`, `lines`, `runs`: the metrics. `curves`: the columns of the history, or other lines of runs.
    pub metrics: Vec<String>,
    /// `points`, `lines`, `runs`: only this slice. Default: `all`.
    pub slice: Option<String>,
    /// `effect`, `histogram`, `scatter`: the column of items that goes across. `runs`: the metric.
    pub x: String,
    /// `histogram`: the column that says the same of people, such as `annotator_entropy`; bars
    /// behind the arms.
    pub people: Option<String>,
    /// `effect`, `scatter`: the column of items that goes up.
    pub y: String,
    /// `effect`: the arm that is taken from the others.
    pub against: Option<String>,
    /// `effect`, `histogram`: how many bins. `pictures`, `maps`: how many items.
    pub count: Option<usize>,
    /// `pictures`: these items; empty: those that people disagree on most.
    pub items: Vec<String>,
    /// Words at the axes, where they should not be the columns' names.
    pub x_title: Option<String>,
    /// The other.
    pub y_title: Option<String>,
    /// `lines`, `curves`, `effect`: a logarithmic axis across.
    pub log_x: bool,
}
