//! What `score` and `compare` share: reading and matching votes and predictions.

use std::path::PathBuf;

use dissensus::core::{Keep, Matched, TieRule, VoteTable};
use dissensus::measure::Settings;
use dissensus::predictions::{Kind, Predictions, ReadOptions, read};
use dissensus::{Evaluated, ScoreError, ScoreOptions, evaluate, evaluate_common};

use crate::commands::votes::reading::{self, ReadingArgs};
use crate::ui::{self, paint, text};

pub(crate) use dissensus::format_number as number;

/// The votes, and how predictions are read and evaluated.
#[derive(clap::Args)]
pub(crate) struct EvaluateArgs {
    /// The votes: any format that `dissensus votes formats` lists
    #[arg(long, value_name = "FILE")]
    pub(crate) votes: PathBuf,
    /// What the predictions are: logits or probabilities [default: detected and printed]
    #[arg(long, value_name = "KIND")]
    kind: Option<Kind>,
    /// Column of the item id in the predictions
    #[arg(long, value_name = "COLUMN")]
    id: Option<String>,
    /// Reference labels for `accuracy_given`: a file with an id and a label per item
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Metrics to show, separated by commas; `all` shows every one
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) metrics: Vec<String>,
    /// Number of bins of calibration errors
    #[arg(long, value_name = "N", default_value_t = Settings::default().bins)]
    bins: usize,
    /// Raise smaller predicted probabilities to this value in soft NLL and KL, which are otherwise
    /// infinite if a class with votes has probability 0
    #[arg(long, value_name = "EPSILON")]
    clip: Option<f64>,
    /// How ties of the majority are broken: lowest (class), random (seeded), or error
    #[arg(long, value_name = "RULE", default_value = "lowest")]
    ties: TieRule,
    /// The random seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Bootstrap replicates per interval; 0 for no intervals
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub(crate) replicates: usize,
    #[command(flatten)]
    how: ReadingArgs,
}

/// EvaluatedModels evaluated against the votes.
pub(crate) struct EvaluatedModels {
    pub(crate) models: Vec<Evaluated>,
    /// Notes on matching and detection, to be printed.
    pub(crate) notes: Vec<String>,
}

impl EvaluateArgs {
    /// How predictions are evaluated.
    pub(crate) fn options(&self) -> anyhow::Result<ScoreOptions> {
        let read = |file: &PathBuf| {
            Ok::<_, anyhow::Error>(
                reading::read(file, &dissensus::votes::ReadOptions::default())?.table,
            )
        };
        Ok(ScoreOptions {
            metrics: self.metrics.clone(),
            settings: Settings { bins: self.bins, clip: self.clip },
            ties: self.ties,
            labels: self.labels.as_ref().map(read).transpose()?,
            replicates: self.replicates,
            seed: self.seed,
        })
    }

    /// Reads the votes.
    pub(crate) fn read_votes(&self) -> anyhow::Result<VoteTable> {
        Ok(reading::read(&self.votes, &self.how.options(Keep::Counts))?.table)
    }

    /// Reads predictions and evaluates them. With `common`, all models are evaluated on the items
    /// that every one of them predicts.
    pub(crate) fn evaluate(
        &self,
        table: &VoteTable,
        files: &[PathBuf],
        options: &ScoreOptions,
        common: bool,
    ) -> anyhow::Result<EvaluatedModels> {
        let how = ReadOptions { kind: self.kind, id: self.id.clone(), ..Default::default() };
        let mut found: Vec<Predictions> = Vec::new();
        for file in files {
            found.extend(read(file, &how)?);
        }
        let names = unique_names(&found, files);
        found.iter_mut().zip(names).for_each(|(predictions, name)| predictions.name = name);
        let models = match common {
            true => evaluate_common(table, &found, options),
            false => found.iter().map(|one| evaluate(table, one, options)).collect(),
        };
        let models = models.map_err(|error| match (error, &self.labels) {
            (ScoreError::Labels(problem), Some(file)) => {
                anyhow::anyhow!("{}: {problem}", file.display())
            }
            (error, _) => error.into(),
        })?;
        let both = found.iter().zip(&models);
        let notes = both.map(|(predictions, model)| note(predictions, model, table)).collect();
        Ok(EvaluatedModels { models, notes })
    }
}

fn note(predictions: &Predictions, found: &Evaluated, table: &VoteTable) -> String {
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
        count(found.matched_items),
        count(table.len())
    );
    if found.without_votes > 0 {
        line += &format!("; {} predictions have no votes", count(found.without_votes));
    }
    line
}

/// The models' names; equal ones are replaced by their files.
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

impl EvaluatedModels {
    /// Prints the notes on matching and detection.
    pub(crate) fn print_notes(&self) {
        for line in &self.notes {
            ui::err(&format!("{}\n", paint::dim(line)));
        }
    }
}
