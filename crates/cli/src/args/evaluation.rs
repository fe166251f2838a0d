//! What `score` and `compare` share: reading and matching votes and predictions.

use std::path::{Path, PathBuf};

use dissensus::core::limits::MAX_REPLICATES;
use dissensus::core::{Keep, TieRule, VoteTable};
use dissensus::measure::Settings;
use dissensus::predictions::{Kind, ReadOptions};
use dissensus::{Evaluated, ScoreError, ScoreOptions, evaluate, evaluate_common, read_predictions};

use super::{VoteArgs, read_votes, whole};
use crate::ui;

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
    metrics: Vec<String>,
    /// Number of bins of calibration errors
    #[arg(long, value_name = "N", default_value_t = Settings::default().bins)]
    #[arg(value_parser = whole::<usize>(1..=Settings::MOST_BINS as u64), allow_negative_numbers = true)]
    bins: usize,
    /// Raise smaller predicted probabilities to this value in soft NLL and KL, which are otherwise
    /// infinite if a class with votes has probability 0
    #[arg(long, value_name = "EPSILON")]
    clip: Option<f64>,
    /// How ties of the majority are broken: lowest (class), random (seeded), or error
    #[arg(long, value_name = "RULE", default_value = "lowest")]
    ties: TieRule,
    /// The random seed
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<u64>(0..=u64::MAX), allow_negative_numbers = true)]
    seed: u64,
    /// Bootstrap replicates per interval; 0 for no intervals
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = whole::<usize>(0..=MAX_REPLICATES as u64), allow_negative_numbers = true)]
    replicates: usize,
    #[command(flatten)]
    reading: VoteArgs,
}

impl EvaluateArgs {
    /// How predictions are evaluated; unknown metrics are an error before anything is read.
    pub(crate) fn options(&self) -> anyhow::Result<ScoreOptions> {
        let mut options = ScoreOptions {
            metrics: self.metrics.clone(),
            settings: Settings { bins: self.bins, clip: self.clip },
            ties: self.ties,
            labels: None,
            replicates: self.replicates,
            seed: self.seed,
        };
        options.chosen()?;
        let labels = |file: &PathBuf| read_votes(file, &dissensus::votes::ReadOptions::default());
        options.labels = self.labels.as_ref().map(labels).transpose()?.map(|read| read.table);
        Ok(options)
    }

    /// Reads the votes.
    pub(crate) fn read_votes(&self) -> anyhow::Result<VoteTable> {
        Ok(self.reading.read(&self.votes, Keep::Counts)?.table)
    }

    /// Reads predictions, evaluates them, and prints what was detected. With `common`, all models are
    /// evaluated on the items that every one of them predicts.
    pub(crate) fn evaluate(
        &self,
        table: &VoteTable,
        files: &[PathBuf],
        options: &ScoreOptions,
        common: bool,
    ) -> anyhow::Result<Vec<Evaluated>> {
        let reading = ReadOptions { kind: self.kind, id: self.id.clone(), ..Default::default() };
        let found = read_predictions(files, &reading)?;
        let models = match common {
            true => evaluate_common(table, &found, options),
            false => found.iter().map(|one| evaluate(table, one, options)).collect(),
        };
        let labels = self.labels.as_deref().unwrap_or(Path::new("labels")).display();
        let models = models.map_err(|error| match error {
            ScoreError::Labels(problem) => anyhow::anyhow!("{labels}: {problem}"),
            error => error.into(),
        })?;
        models.iter().for_each(|model| ui::remark(&model.note(table.len())));
        Ok(models)
    }
}
