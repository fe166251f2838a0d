//! What `score` and `compare` share: reading and matching votes and predictions.

use std::path::{Path, PathBuf};

use dissensus::core::limits::MAX_REPLICATES;
use dissensus::core::{Keep, TieRule, VoteTable};
use dissensus::measure::Settings;
use dissensus::predictions::{
    ByPosition, ClassMap, ClassNames, ClassOrder, Join, Kind, ReadOptions,
};
use dissensus::{
    Evaluated, ScoreError, ScoreOptions, advice, evaluate, evaluate_common, read_joined,
    read_predictions,
};

use super::{VoteArgs, read_votes, whole};
use crate::ui;

/// What the models of several files are evaluated on.
#[derive(Clone, Copy)]
pub(crate) enum Models {
    /// Each on its own items.
    Each,
    /// The same, and the seeds in a column are models of their own.
    EachRun,
    /// All on the items that every one of them predicts.
    Common,
    /// The files are one model.
    Joined(Join),
}

/// The votes, and how predictions are read and evaluated.
#[derive(clap::Args)]
pub(crate) struct EvaluateArgs {
    /// The votes: any format that `dissensus votes formats` lists
    #[arg(long, value_name = "FILE")]
    pub(crate) votes: PathBuf,
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
    /// Make intervals from N bootstrap replicates, 0 for no intervals [default: closed forms, which need no
    /// replicates]
    #[arg(long, value_name = "N", value_parser = whole::<usize>(0..=MAX_REPLICATES as u64), allow_negative_numbers = true)]
    replicates: Option<usize>,
    #[command(flatten)]
    predicted: PredictionArgs,
    #[command(flatten)]
    reading: VoteArgs,
}

/// How to read predictions and match them with the votes.
#[derive(clap::Args)]
struct PredictionArgs {
    /// The predictions are logits, not probabilities: all of them, or these files [default: detected
    /// and printed, or refused]
    #[arg(long, value_name = "FILE", num_args = 0.., help_heading = READING)]
    logits: Option<Vec<PathBuf>>,
    /// The predictions are probabilities, not logits: all of them, or these files
    #[arg(long, value_name = "FILE", num_args = 0.., help_heading = READING)]
    probabilities: Option<Vec<PathBuf>>,
    /// Column or array of the item ids in the predictions: a name, or #2 for the second column
    #[arg(long, value_name = "NAME", help_heading = READING)]
    id: Option<String>,
    /// Array or column of lists that holds the predictions
    #[arg(long, value_name = "NAME", help_heading = READING)]
    key: Option<String>,
    /// The votes' names of classes that the predictions call otherwise, as in entailment=e,neutral=n
    #[arg(long, value_name = "FILE=VOTES,…", help_heading = READING)]
    class_map: Option<ClassMap>,
    /// What the predictions call the classes of columns without names, in the order of the columns, as in
    /// contradiction,neutral,entailment; or the config.json of a model, which has them as `id2label`
    #[arg(long, value_name = "NAMES", value_parser = ClassNames::given, help_heading = READING)]
    class_names: Option<ClassNames>,
    /// The classes of columns that have no names of classes, in the order of the columns, as in c,n,e, or
    /// `by name` where they are sorted by name; one class where the only column is its probability
    #[arg(long, value_name = "CLASSES", help_heading = READING)]
    class_order: Option<ClassOrder>,
    /// Keep the order of the classes although another one fits the votes significantly better
    #[arg(long, help_heading = READING)]
    trust_order: bool,
    /// The numbers are numbers of answers, as of a language model that is asked several times
    #[arg(long, help_heading = READING)]
    answers: bool,
    /// The character between several answers or numbers in a cell
    #[arg(long, value_name = "CHAR", help_heading = READING)]
    answer_separator: Option<char>,
    /// Match `items` (rows) or `classes` (columns) with the votes by position, not by id or name
    #[arg(long, value_name = "WHAT", num_args = 0..=1, default_missing_value = "items",
        value_delimiter = ',', value_parser = ["items", "classes"], help_heading = READING)]
    by_position: Vec<String>,
}

const READING: &str = "Reading predictions";

impl PredictionArgs {
    /// Refuses options that name other files than these, or one file twice.
    fn check(&self, files: &[PathBuf]) -> anyhow::Result<()> {
        for (flag, said) in [("--logits", &self.logits), ("--probabilities", &self.probabilities)] {
            if let Some(file) = said.iter().flatten().find(|file| !files.contains(file)) {
                anyhow::bail!("{flag} names {}, which is none of the predictions", file.display());
            }
        }
        let both = |file: &&PathBuf| says(&self.logits, file) && says(&self.probabilities, file);
        match files.iter().find(both) {
            Some(file) => anyhow::bail!(
                "{} cannot be both: give either --logits or --probabilities",
                file.display()
            ),
            None => Ok(()),
        }
    }

    /// How a file is read.
    fn options(&self, file: &Path) -> ReadOptions {
        let by = |what: &str| self.by_position.iter().any(|given| given == what);
        ReadOptions {
            kind: match (says(&self.logits, file), says(&self.probabilities, file)) {
                (true, _) => Some(Kind::Logits),
                (_, true) => Some(Kind::Probabilities),
                _ => None,
            },
            id: self.id.clone(),
            key: self.key.clone(),
            class_map: self.class_map.clone(),
            class_names: self.class_names.clone(),
            class_order: self.class_order.clone(),
            answers: self.answers,
            answer_separator: self.answer_separator,
            trust_order: self.trust_order,
            by_position: ByPosition { items: by("items"), classes: by("classes") },
            ..ReadOptions::default()
        }
    }
}

/// Whether an option without files, or with this one, was given.
fn says(said: &Option<Vec<PathBuf>>, file: &Path) -> bool {
    said.as_ref().is_some_and(|said| said.is_empty() || said.iter().any(|one| one == file))
}

impl EvaluateArgs {
    /// How the predictions in these files are evaluated; unknown metrics, and options for other files,
    /// are errors before anything is read.
    pub(crate) fn options(&self, files: &[PathBuf]) -> anyhow::Result<ScoreOptions> {
        self.predicted.check(files)?;
        let mut options = ScoreOptions {
            metrics: self.metrics.clone(),
            settings: Settings { bins: self.bins, clip: self.clip },
            ties: self.ties,
            labels: None,
            replicates: self.replicates,
            seed: self.seed,
        };
        options.chosen()?;
        let one_each = dissensus::votes::ReadOptions { reference: true, ..Default::default() };
        let labels = |file: &PathBuf| read_votes(file, &one_each);
        options.labels = self.labels.as_ref().map(labels).transpose()?.map(|read| read.table);
        Ok(options)
    }

    /// Reads the votes.
    pub(crate) fn read_votes(&self) -> anyhow::Result<VoteTable> {
        Ok(self.reading.read(&self.votes, Keep::Counts)?.table)
    }

    /// Reads predictions, evaluates them, and prints what was detected.
    pub(crate) fn evaluate(
        &self,
        table: &VoteTable,
        files: &[PathBuf],
        options: &ScoreOptions,
        how: Models,
    ) -> anyhow::Result<Vec<Evaluated>> {
        let models = self.evaluated(table, files, options, how).map_err(|error| {
            let advice = advice(table, files, |file| self.predicted.options(file), error.as_ref());
            match advice {
                Some(advice) if !matches!(how, Models::Joined(_)) => {
                    ui::errors::advised(error, &advice, files.len() == 1)
                }
                _ => error,
            }
        })?;
        for model in &models {
            ui::remark(&model.note(table.len()));
            model.notes.iter().for_each(|note| ui::note(&format!("{}: {note}", model.name)));
        }
        Ok(models)
    }

    fn evaluated(
        &self,
        table: &VoteTable,
        files: &[PathBuf],
        options: &ScoreOptions,
        how: Models,
    ) -> anyhow::Result<Vec<Evaluated>> {
        let runs = matches!(how, Models::EachRun);
        let reading = |file: &Path| ReadOptions { runs, ..self.predicted.options(file) };
        let found = match how {
            Models::Joined(join) => read_joined(table, files, join, reading)?,
            _ => read_predictions(table, files, reading)?,
        };
        let models = match how {
            Models::Common => evaluate_common(table, &found, options),
            _ => found.iter().map(|one| evaluate(table, one, options)).collect(),
        };
        let labels = self.labels.as_deref().unwrap_or(Path::new("labels")).display();
        models.map_err(|error| match error {
            ScoreError::Labels(problem) => anyhow::anyhow!("{labels}: {problem}"),
            error => error.into(),
        })
    }
}
