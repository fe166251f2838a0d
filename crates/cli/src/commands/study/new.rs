//! `dissensus study new`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::builder::{PossibleValue, PossibleValuesParser};
use dissensus::engine::MODELS;
use dissensus::io::FileError;
use dissensus::studies::NewStudy;
use dissensus::train::Spec;
use serde_json::Value;

use super::at_least_one;
use crate::commands::inputs::InputArgs;
use crate::commands::runs::quoted;
use crate::commands::votes::reading::ReadingArgs;
use crate::training::load;
use crate::ui::{self, paint};

/// Write a study of your own votes: does it matter how they are delivered?
///
/// Reads and matches the votes and the inputs, and writes a study that fits them: soft labels, labels
/// drawn in every epoch, votes one by one, the majority label and label smoothing, each with several
/// seeds, evaluated on items that neither training nor the selection of the epoch used, with exact
/// paired tests, figures and a page. The file has comments and is meant to be edited.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The file of votes, or a dataset by its name (`dissensus data list`)
    #[arg(value_name = "VOTES|DATASET")]
    votes: String,
    /// Images or feature vectors of the items: a file or a folder. Some datasets have images
    #[arg(long, value_name = "PATH")]
    inputs: Option<PathBuf>,
    /// Encode texts or images with this encoder (`dissensus embed --list`)
    #[arg(long, value_name = "NAME|PATH")]
    encoder: Option<String>,
    /// The model to train [default: one that fits the inputs]
    #[arg(long, value_name = "NAME", value_parser = models())]
    model: Option<String>,
    /// Seeds per delivery method. With at least eight, an exact test can be significant after
    /// correction for four comparisons
    #[arg(long, value_name = "N", default_value = "8", value_parser = at_least_one)]
    seeds: u64,
    /// Column of the votes with the part of each item (train, validation or dev, test), where the data
    /// come with a split
    #[arg(long, value_name = "COLUMN")]
    split_column: Option<String>,
    /// Column of the texts, for an encoder
    #[arg(long, value_name = "COLUMN")]
    text: Option<String>,
    /// The file to write, whose name is the study's [default: standard output]
    #[arg(long, value_name = "FILE.toml")]
    out: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    reading_inputs: InputArgs,
}

fn models() -> PossibleValuesParser {
    PossibleValuesParser::new(
        MODELS.iter().map(|model| PossibleValue::new(model.name).help(model.description)),
    )
}

const EXAMPLES: &str = "\
Examples:
  dissensus study new votes.csv --inputs images --out mine.toml
  dissensus study new answers.jsonl --encoder minilm --label verdict > mine.toml
  dissensus study run mine.toml --scale quick       to check that everything works
  dissensus study run mine.toml
  dissensus report runs --study mine --open";

impl Args {
    /// The keys of `[data]` and their values.
    fn data(&self) -> Vec<(&'static str, Value)> {
        let file = Path::new(&self.votes).exists() || self.votes.contains(['.', '/', '\\']);
        let source = if file { "votes" } else { "dataset" };
        let inputs = self.inputs.as_ref().map(|path| path.display().to_string());
        let mut keys = vec![(source, self.votes.clone().into())];
        keys.extend(self.reading.keys());
        keys.extend(self.text.clone().map(|text| ("text", text.into())));
        keys.extend(self.split_column.clone().map(|column| ("split_column", column.into())));
        keys.extend(inputs.map(|path| ("inputs", path.into())));
        keys.extend(self.reading_inputs.keys());
        keys.extend(self.encoder.clone().map(|encoder| ("encoder", encoder.into())));
        keys
    }

    /// The study's name, from the file to write or the votes.
    fn name(&self) -> String {
        let from = self.out.as_deref().unwrap_or(Path::new(&self.votes));
        let stem = from.file_stem().and_then(|stem| stem.to_str()).unwrap_or("mine");
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
        let name: String = stem.chars().map(plain).collect();
        let name = name.trim_matches('-');
        if name.is_empty() { "mine".to_owned() } else { name.to_owned() }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Some(path) = args.out.as_ref().filter(|path| !args.force && path.exists()) {
        return Err(FileError::Exists { path: path.clone() }.into());
    }
    let data = args.data();
    let alone = args.inputs.is_none() && args.encoder.is_none();
    if let ("votes", true) = (data[0].0, alone) {
        anyhow::bail!(
            "training needs inputs; give images or feature vectors of the items with --inputs, or an \
             encoder for the texts of the votes with --encoder"
        );
    }
    // Read as `train` reads it, so that errors are the same.
    let keys: Vec<String> = data.iter().map(|(key, value)| format!("data.{key}={value}")).collect();
    let spec = Spec::parse("[delivery]\nmethods = [\"soft\"]\n", "the study", &keys)?;
    let task = load(&spec.data)?;
    if task.table().classes().len() < 2 {
        anyhow::bail!(
            "all votes of {} are for one class, so there is nothing to learn",
            args.votes
        );
    }
    let name = args.name();
    let file = match &args.out {
        Some(path) => quoted(path),
        None => format!("{name}.toml"),
    };
    let own = NewStudy {
        name: &name,
        file: &file,
        data: &data,
        table: task.table(),
        shape: task.shape(),
        model: args.model.as_deref(),
        seeds: args.seeds,
        parts: task.split(),
    };
    let text = own.text()?;
    if own.divided() == 0 {
        ui::err(&format!(
            "{} people agree on every item, so all delivery methods give the same labels\n",
            paint::warn("note:")
        ));
    }
    match &args.out {
        None => ui::out(&text)?,
        Some(path) => {
            ui::files::write_text(path, args.force, &text)?;
            ui::out(&format!("wrote {}\n", path.display()))?;
            ui::err(&format!(
                "next: dissensus study run {file} --scale quick   to check that everything works\n"
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}
