//! Votes and predictions, read and matched.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use dissensus_core::{Keep, Matched, VoteTable};
use dissensus_labels::example_key;
use dissensus_measure::{
    Judged, Matrix, MeasureError, Predictions as Given, Settings, TieRule, Truth,
};
use dissensus_predictions::{Kind, Predictions, ReadOptions, align, read};

use crate::commands::votes::reading::{self, HowArgs};
use crate::ui::{self, paint, text};

/// Votes, and how predictions are read and judged.
#[derive(clap::Args)]
pub(crate) struct JudgeArgs {
    /// The votes: any format that `dissensus votes formats` lists
    #[arg(long, value_name = "FILE")]
    pub(crate) votes: PathBuf,
    /// What the predictions are: logits or probabilities [default: detected and printed]
    #[arg(long, value_name = "KIND")]
    kind: Option<Kind>,
    /// Column of the item id in the predictions
    #[arg(long, value_name = "COLUMN")]
    id: Option<String>,
    /// Labels from elsewhere, for `accuracy_given`: a file with an id and a label for each item
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Metrics to show, separated by commas; `all` shows every one
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) metrics: Vec<String>,
    /// Bins of calibration errors
    #[arg(long, value_name = "N", default_value_t = Settings::default().bins)]
    bins: usize,
    /// Raise predicted probabilities to this in soft NLL and KL, which are infinite where a class
    /// that got votes was given probability 0
    #[arg(long, value_name = "EPSILON")]
    clip: Option<f64>,
    /// The majority of tied votes: lowest (class), random (seeded), or error
    #[arg(long, value_name = "RULE", default_value = "lowest", value_parser = tie_rule)]
    ties: TieRule,
    /// Seed of everything that is random
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Bootstrap replicates behind an interval; 0 for no intervals
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub(crate) replicates: usize,
    #[command(flatten)]
    how: HowArgs,
}

fn tie_rule(text: &str) -> Result<TieRule, String> {
    match text {
        "lowest" => Ok(TieRule::Lowest),
        "random" => Ok(TieRule::Random { seed: 0 }),
        "error" => Ok(TieRule::Error),
        _ => Err("expected `lowest`, `random` or `error`".to_owned()),
    }
}

/// A model's predictions, judged.
pub(crate) struct Model {
    pub(crate) name: String,
    pub(crate) judged: Judged,
    /// The items judged, as places in the vote table.
    pub(crate) items: Vec<usize>,
}

/// The votes, and the models judged against them.
pub(crate) struct Models {
    pub(crate) models: Vec<Model>,
    /// What was matched and detected, to be printed.
    pub(crate) notes: Vec<String>,
}

impl JudgeArgs {
    pub(crate) fn settings(&self) -> Settings {
        Settings { bins: self.bins, clip: self.clip }
    }

    /// Reads the votes.
    pub(crate) fn read_votes(&self) -> anyhow::Result<VoteTable> {
        Ok(reading::read(&self.votes, &self.how.options(Keep::Counts))?.table)
    }

    /// Reads predictions and judges them. Where `common`, all models are judged on the items that
    /// every one of them predicts.
    pub(crate) fn judge(
        &self,
        table: &VoteTable,
        files: &[PathBuf],
        common: bool,
    ) -> anyhow::Result<Models> {
        let options = ReadOptions { kind: self.kind, id: self.id.clone(), ..Default::default() };
        let mut found: Vec<Predictions> = Vec::new();
        for file in files {
            found.extend(read(file, &options)?);
        }
        let mut notes = Vec::new();
        let mut aligned = Vec::new();
        for predictions in &found {
            let match_ = align(table, predictions)?;
            notes.push(note(predictions, &match_, table));
            aligned.push(match_);
        }
        if common && aligned.len() > 1 {
            let in_all = |item: &usize| aligned.iter().all(|a| a.items.binary_search(item).is_ok());
            let shared: Vec<usize> = aligned[0].items.iter().copied().filter(in_all).collect();
            anyhow::ensure!(!shared.is_empty(), "no item is predicted by every model");
            for match_ in &mut aligned {
                let width = table.classes().len();
                let keep = |(_, item): &(usize, &usize)| shared.binary_search(item).is_ok();
                let rows: Vec<usize> =
                    match_.items.iter().enumerate().filter(keep).map(|(row, _)| row).collect();
                let row = |&r: &usize| match_.values[r * width..(r + 1) * width].to_vec();
                match_.values = rows.iter().flat_map(row).collect();
                match_.items.clone_from(&shared);
            }
        }
        let names = unique_names(&found, files);
        let mut models = Vec::new();
        for ((name, predictions), match_) in names.into_iter().zip(&found).zip(aligned) {
            let truth = self.truth(table, &match_.items)?;
            let matrix = Matrix::new(&match_.values[..], predictions.width)?;
            let given = match predictions.kind {
                Kind::Logits => Given::Logits(matrix),
                Kind::Probabilities => Given::Probabilities(matrix),
            };
            let judged = Judged::new(Arc::new(truth), given).with_context(|| name.clone())?;
            models.push(Model { name, judged, items: match_.items });
        }
        Ok(Models { models, notes })
    }

    /// What people said about these items.
    fn truth(&self, table: &VoteTable, items: &[usize]) -> anyhow::Result<Truth> {
        let truth = Truth::from_table(table, items).map_err(|error| match error {
            MeasureError::NoVotes { rows } => {
                let first = rows.first().map_or("", |&row| table.items().name(items[row]));
                let n = rows.len();
                anyhow::anyhow!(
                    "{n} of the items have no votes (first: {first:?}): drop them first"
                )
            }
            other => other.into(),
        })?;
        let ties = match self.ties {
            TieRule::Random { .. } => TieRule::Random { seed: self.seed },
            other => other,
        };
        let key = |&item: &usize| example_key(table.items().name(item));
        let keys: Vec<u64> = items.iter().map(key).collect();
        let truth = truth.with_ties(ties, Some(&keys))?;
        match &self.labels {
            None => Ok(truth),
            Some(file) => Ok(truth.with_given(&given_labels(file, table, items)?)?),
        }
    }
}

/// The labels of these items from a file of one label an item.
fn given_labels(file: &Path, table: &VoteTable, items: &[usize]) -> anyhow::Result<Vec<u32>> {
    let labels = reading::read(file, &dissensus_votes::ReadOptions::default())?.table;
    let counts = labels.counts();
    let label = |&item: &usize| -> anyhow::Result<u32> {
        let id = table.items().name(item);
        let place = labels.items().position(id);
        let place = place.with_context(|| format!("{}: no label for {id:?}", file.display()))?;
        let mut entries = counts.iter().flat_map(|counts| counts.entries(place));
        let (Some((class, 1)), None) = (entries.next(), entries.next()) else {
            anyhow::bail!("{}: {id:?} has not exactly one label", file.display());
        };
        let name = labels.classes().name(class);
        let class = table.classes().position(name);
        let class = class.with_context(|| {
            let known = table.classes().names().join(", ");
            format!("{}: {id:?} has the label {name:?}, the classes are {known}", file.display())
        })?;
        Ok(u32::from(class))
    };
    items.iter().map(label).collect()
}

fn note(
    predictions: &Predictions,
    found: &dissensus_predictions::Aligned,
    table: &VoteTable,
) -> String {
    let kind = match predictions.kind {
        Kind::Logits => "logits",
        Kind::Probabilities => "probabilities",
    };
    let how = if predictions.kind_detected { "detected" } else { "as said" };
    let by = match found.matched {
        Matched::ById => "by id",
        Matched::ByPosition => "by position: the predictions have no ids",
    };
    let count = |n: usize| text::thousands(n as u64);
    let mut line = format!(
        "{}: {kind} ({how}), {} of {} items matched {by}",
        predictions.name,
        count(found.items.len()),
        count(table.len())
    );
    if found.without_votes > 0 {
        line += &format!("; {} predictions have no votes", count(found.without_votes));
    }
    line
}

/// The models' names, told apart by their files where they are the same.
fn unique_names(found: &[Predictions], files: &[PathBuf]) -> Vec<String> {
    let twice = |name: &str| found.iter().filter(|p| p.name == name).count() > 1;
    let full = |i: usize| {
        let path = files.get(i).filter(|_| files.len() == found.len());
        path.map_or_else(|| format!("{} ({})", found[i].name, i + 1), |p| p.display().to_string())
    };
    (0..found.len())
        .map(|i| if twice(&found[i].name) { full(i) } else { found[i].name.clone() })
        .collect()
}

impl Models {
    /// Says what was matched and detected.
    pub(crate) fn print_notes(&self) {
        for line in &self.notes {
            ui::err(&format!("{}\n", paint::dim(line)));
        }
    }
}
