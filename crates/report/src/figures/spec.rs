//! What a study says of a figure.

use serde::{Deserialize, Serialize};

use super::kind::FigureKind;
use crate::tables::Votes;

/// A figure of a study. Which keys a kind reads: [`FigureKind::settings`].
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
    /// `effect`, `histogram`: how many bins. `images`, `maps`: how many items.
    pub count: Option<usize>,
    /// `images`: these items; empty: those that people disagree on most.
    pub items: Vec<String>,
    /// Words at the axes, where they should not be the columns' names.
    pub x_title: Option<String>,
    /// The other.
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
            "people" => self.people.as_deref().into_iter().collect(),
            "against" => self.against.as_deref().into_iter().collect(),
            _ => Vec::new(),
        }
    }
}
