//! Everything that a report is made of, already computed.
//!
//! A [`Book`] is filled from a store by whoever runs studies; tables, figures and the page are made
//! from it alone. Numbers in it are one tidy list of [`Row`]s, one for each run and metric; means,
//! spreads and paired tests over seeds are taken when a table is prepared.

use serde::{Deserialize, Serialize};

pub use dissensus_core::Direction;
pub use dissensus_core::results::Row;

/// A report's contents.
#[derive(Clone, Debug, Default)]
pub struct Book {
    /// The study's name: letters, digits and dashes.
    pub name: String,
    pub title: String,
    /// What it asks, in a paragraph or two of plain text.
    pub about: String,
    /// What the page opens with.
    pub opening: Opening,
    /// The scale that the study was run at; `None` for the whole of it.
    pub scale: Option<String>,
    /// The arms, in the order in which they are shown. A row's arm is one of these names.
    pub arms: Vec<Arm>,
    /// The data sets, in the order in which they are shown.
    pub datasets: Vec<Named>,
    /// The metrics of the rows.
    pub metrics: Vec<Metric>,
    /// The results.
    pub rows: Vec<Row>,
    /// Curves over epochs, one for each run and column of its history; and other lines of a run.
    pub curves: Vec<Curve>,
    /// Numbers by item, one table for each run that a figure needs them of.
    pub items: Vec<ItemNumbers>,
    /// Numbers by item of the data sets themselves, where a figure shows them; their run has no arm.
    pub data: Vec<ItemNumbers>,
    /// Reliability, one for each run.
    pub reliability: Vec<ReliabilityOf>,
    /// Images with a run's map of where it looks over them.
    pub overlays: Vec<Overlay>,
    /// The items themselves with every arm's predictions, one collection for each data set.
    pub collections: Vec<Collection>,
    /// The settings that a grid search chose.
    pub chosen: Vec<Chosen>,
    /// What there is to say of each data set, in the order in which it is shown.
    pub facts: Vec<Facts>,
    /// Published values to stand beside ours.
    pub references: Vec<Reference>,
    /// What is claimed to come out.
    pub claims: Vec<crate::claims::ClaimSpec>,
    /// The runs that the study has, done or not.
    pub planned: Vec<RunKey>,
    /// What tables are wanted.
    pub tables: Vec<crate::tables::TableSpec>,
    /// What figures are wanted.
    pub figures: Vec<crate::figures::FigureSpec>,
    /// The resolved study, as TOML.
    pub settings: String,
    /// Where the results come from: version, hardware, dates, seconds; name and value.
    pub provenance: Vec<(String, String)>,
    /// What holds for all results, a sentence each.
    pub notes: Vec<String>,
    /// Results of predictions that need no model, on the items that runs are judged on; their arm is
    /// the name of the baseline.
    pub baselines: Vec<Row>,
    /// Runs that failed, with the reason.
    pub failed: Vec<(String, String)>,
    /// Runs that are not done.
    pub missing: usize,
}

/// What is called `name` as it is called for people; the name itself where that is unknown or empty.
fn titled<'a>(name: &'a str, found: Option<&'a String>) -> &'a str {
    found.map(String::as_str).filter(|title| !title.is_empty()).unwrap_or(name)
}

impl Book {
    /// The metric of this name.
    pub(crate) fn metric(&self, name: &str) -> Option<&Metric> {
        self.metrics.iter().find(|metric| metric.name == name)
    }

    pub(crate) fn metric_title<'a>(&'a self, name: &'a str) -> &'a str {
        titled(name, self.metric(name).map(|metric| &metric.title))
    }

    pub fn arm_title<'a>(&'a self, name: &'a str) -> &'a str {
        titled(name, self.arms.iter().find(|arm| arm.name == name).map(|arm| &arm.title))
    }

    /// A data set for people.
    pub(crate) fn dataset_title<'a>(&'a self, name: &'a str) -> &'a str {
        titled(name, self.datasets.iter().find(|d| d.name == name).map(|d| &d.title))
    }

    /// That published values and claims belong to the whole study, where this is not the whole of it.
    pub fn scale_note(&self) -> Option<String> {
        let scale = self.scale.as_ref()?;
        let beside = !self.references.is_empty() || !self.claims.is_empty();
        beside.then(|| {
            format!(
                "This is the study at scale {scale}, which checks that everything works. Published \
                 values and claims refer to the full study, whose numbers will differ."
            )
        })
    }
}

/// What the page opens with: a question, the claim that answers it and the figure that shows it. What
/// is not given is chosen from the claims and figures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// The question; empty for none.
    pub question: String,
    /// The name of the claim.
    pub claim: Option<String>,
    /// The name of the figure.
    pub figure: Option<String>,
}

/// A name, and how it is written for people.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    /// As in the rows.
    pub name: String,
    pub title: String,
}

/// One thing that is compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arm {
    /// As in the rows.
    pub name: String,
    pub title: String,
    /// How it differs from the others, in a sentence.
    pub about: String,
}

/// A metric, and how its number is made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// As in the rows.
    pub name: String,
    /// For people, short: the head of a column.
    pub title: String,
    pub better: Direction,
    /// Digits after the point.
    pub digits: usize,
    /// What it is, in a sentence or two.
    pub what: String,
    /// Its formula in plain text.
    pub formula: String,
    /// Settings that it was computed with; empty where there are none.
    pub settings: String,
    /// Where it is defined.
    pub source: String,
}

/// What a run is, as tables and figures know it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunKey {
    pub dataset: String,
    pub arm: String,
    /// Votes per item in training; `None` for all.
    pub k: Option<u32>,
    pub seed: u64,
}

/// A column of a run's history, or another line of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    pub of: RunKey,
    /// What it shows, such as `train_loss` or `evaluation.soft_nll`.
    pub column: String,
    /// One value per epoch; NaN where there is none.
    pub values: Vec<f64>,
    /// Where the values stand, as many; empty for epochs.
    pub x: Vec<f64>,
}

/// Columns of numbers by item, of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ItemNumbers {
    pub of: RunKey,
    pub ids: Vec<String>,
    /// Names and values, as many as items each; NaN where there is none.
    pub columns: Vec<(String, Vec<f64>)>,
    /// The names of slices, and whether each item is in it.
    pub slices: Vec<(String, Vec<bool>)>,
}

impl ItemNumbers {
    /// The column of this name.
    pub(crate) fn column(&self, name: &str) -> Option<&[f64]> {
        self.columns.iter().find(|(column, _)| column == name).map(|(_, values)| values.as_slice())
    }

    /// Which items are in the slice of this name; `None` for one that is not known, such as `all`.
    pub(crate) fn slice(&self, name: &str) -> Option<&[bool]> {
        self.slices.iter().find(|(slice, _)| slice == name).map(|(_, inside)| inside.as_slice())
    }
}

/// Reliability of one run: what was predicted against what came.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReliabilityOf {
    pub of: RunKey,
    /// Confidence, how often people agreed, and the count of each bin.
    pub bins: Vec<(f64, f64, u64)>,
    /// A smooth curve of confidence and accuracy, where a figure asks for it: at the same confidences
    /// for every run, without those that the run does not have.
    pub smooth: Vec<(f64, f64)>,
}

/// An image with a run's map of where it looks over it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overlay {
    pub of: RunKey,
    pub item: String,
    /// The image, the map over it.
    pub picture: Picture,
}

/// The items of a data set, to look at.
#[derive(Clone, Debug, Default)]
pub struct Collection {
    pub dataset: String,
    /// The classes, in order.
    pub classes: Vec<String>,
    pub items: Vec<Item>,
    /// Each prediction's arm and votes per item (`None`: all).
    pub predicted_by: Vec<(String, Option<u32>)>,
}

/// An item to look at.
#[derive(Clone, Debug, Default)]
pub struct Item {
    pub id: String,
    /// Its text, where it is one.
    pub text: Option<String>,
    /// Its image, where it is one.
    pub picture: Option<Picture>,
    /// Votes by class: counts or shares.
    pub votes: Vec<f64>,
    /// One for each of `predicted_by`: the mean predicted distribution over seeds; empty where no
    /// run of that arm predicts the item.
    pub predictions: Vec<Vec<f32>>,
}

/// A small image, row by row, one or three channels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// Pixels per row.
    pub width: usize,
    pub height: usize,
    /// 1 (grey) or 3 (red, green, blue).
    pub channels: usize,
    /// All bytes.
    pub pixels: Vec<u8>,
}

/// What a grid search chose for an arm.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chosen {
    pub dataset: String,
    pub arm: String,
    /// Votes per item; `None` for all.
    pub k: Option<u32>,
    /// Setting and value.
    pub settings: Vec<(String, String)>,
}

/// What there is to say of a data set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    pub dataset: String,
    /// What, and its value, as they are shown.
    pub facts: Vec<(String, String)>,
}

/// A published value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// The data set; empty where the study has one.
    #[serde(default)]
    pub dataset: String,
    pub arm: String,
    /// Votes per item; none for all.
    #[serde(default)]
    pub k: Option<u32>,
    pub metric: String,
    /// The slice; `all` for all items.
    #[serde(default = "all")]
    pub slice: String,
    /// The mean over seeds.
    pub mean: f64,
    /// The standard deviation over seeds, where it is given.
    #[serde(default)]
    pub sd: Option<f64>,
    /// How many seeds.
    #[serde(default)]
    pub n: Option<u32>,
    /// Where it is published, such as `Table 2`.
    pub source: String,
}

fn all() -> String {
    "all".to_owned()
}
