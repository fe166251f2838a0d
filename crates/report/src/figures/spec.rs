//! What a study says of a figure.

use serde::{Deserialize, Serialize};

use super::kind::FigureKind;
use crate::tables::Votes;

/// Which items a figure shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pick {
    /// Those that people disagree on most.
    #[default]
    Disputed,
    /// The one that they disagree on least, and the one that they disagree on most.
    Extremes,
    /// Of those for which all arms predict the class of the most votes, that on which the first has the
    /// largest lead in KL over the last.
    Spread,
}

/// A figure of a study. Which keys a kind reads: [`FigureKind::settings`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FigureSpec {
    /// Its file name, and how it is referred to: letters, digits, dashes.
    pub name: String,
    pub title: String,
    /// Words below it.
    pub note: String,
    pub kind: FigureKind,
    /// Only these data sets, in this order; empty: all. The same for the others.
    pub datasets: Vec<String>,
    /// Only these arms.
    pub arms: Vec<String>,
    /// Only these numbers of votes.
    pub ks: Vec<Votes>,
    /// `points`, `lines`, `runs`: the metrics. `curves`: the columns of the history, or other lines of runs.
    pub metrics: Vec<String>,
    /// `points`, `lines`, `runs`, `effect`: only this slice. Default: `all`.
    pub slice: Option<String>,
    /// `points`: a panel for each of these slices, in place of `slice`.
    pub slices: Vec<String>,
    /// `effect`, `histogram`, `scatter`: the column of items that goes across. `runs`: the metric.
    pub x: String,
    /// `histogram`: the column that says the same of people, such as `annotator_entropy`; bars
    /// behind the arms.
    pub people: Option<String>,
    /// `histogram`: of all items of a data set, not of those that runs are judged on.
    pub data: bool,
    /// `effect`, `scatter`: the column of items that goes up.
    pub y: String,
    /// `effect`: the arm that is taken from the others.
    pub against: Option<String>,
    /// `effect`: the others are taken from `against`, so that a gain in a loss is above 0.
    pub gain: bool,
    /// `reliability`: smooth curves of all arms in one panel, against the majority label.
    pub smooth: bool,
    /// `effect`, `histogram`: how many bins. `images`, `maps`: how many items.
    pub count: Option<usize>,
    /// `images`: these items; empty: those of `pick`.
    pub items: Vec<String>,
    /// `images`: which items of each data set.
    pub pick: Pick,
    /// `images`: only the votes.
    pub only_votes: bool,
    /// `images`: with the KL divergence of each prediction.
    pub kl: bool,
    /// Words at the axes, where they should not be the columns' names.
    pub x_title: Option<String>,
    pub y_title: Option<String>,
    /// `lines`, `curves`, `effect`: a logarithmic axis across.
    pub log_x: bool,
}

impl FigureSpec {
    /// A key that is set and that figures of this kind do not read.
    pub fn unread(&self) -> Option<String> {
        let json = |spec: &Self| serde_json::to_value(spec).unwrap_or_default();
        let (own, unset, read) = (json(self), json(&Self::default()), self.kind.keys());
        let mut set = own.as_object()?.iter().filter(|(key, value)| unset[key.as_str()] != **value);
        set.find(|(key, _)| !read.contains(&key.as_str())).map(|(key, _)| key.clone())
    }

    /// The names that a key holds; none where its value is a number, a title or a switch.
    pub fn names(&self, key: &str) -> Vec<&str> {
        match key {
            "metrics" => self.metrics.iter().map(String::as_str).collect(),
            "items" => self.items.iter().map(String::as_str).collect(),
            "x" => vec![&self.x],
            "y" => vec![&self.y],
            "slice" => self.slice.as_deref().into_iter().collect(),
            "slices" => self.slices.iter().map(String::as_str).collect(),
            "people" => self.people.as_deref().into_iter().collect(),
            "against" => self.against.as_deref().into_iter().collect(),
            _ => Vec::new(),
        }
    }
}
