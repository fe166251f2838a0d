//! `dissensus study new`

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser};
use dissensus::core::limits::MAX_SEEDS;
use dissensus::engine::{MODELS, Model};
use dissensus::load_task;
use dissensus::studies::NewStudy;
use dissensus::train::spec::{DataSource, GivenSplit};

use crate::args::{DataArgs, context, quoted, whole};
use crate::ui;

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
    /// Encode texts or images with this encoder (`dissensus embed --list`)
    #[arg(long, value_name = "NAME|PATH")]
    encoder: Option<String>,
    /// The model to train [default: one that fits the inputs]
    #[arg(long, value_name = "NAME", value_parser = models())]
    model: Option<String>,
    /// Seeds per delivery method. With at least eight, an exact test can be significant after
    /// correction for four comparisons
    #[arg(long, value_name = "N", default_value = "8", value_parser = whole::<u64>(1..=MAX_SEEDS), allow_negative_numbers = true)]
    seeds: u64,
    /// Column of the votes with the part of each item (train, validation or dev, test), where the data
    /// come with a split
    #[arg(long, value_name = "COLUMN")]
    split_column: Option<String>,
    /// The file to write, whose name is the study's [default: standard output]
    #[arg(long, value_name = "FILE.toml")]
    out: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    data: DataArgs,
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

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    dissensus::files::check_free(args.out.as_deref(), args.force)?;
    let mut data = args.data.data(&args.votes)?;
    data.encoder.clone_from(&args.encoder);
    data.split = args.split_column.clone().map(GivenSplit::Column);
    let alone = data.inputs.is_none() && data.encoder.is_none();
    if let (DataSource::Files { .. }, true) = (&data.source, alone) {
        anyhow::bail!(
            "training needs inputs; give images or feature vectors of the items with --inputs, or an \
             encoder for the texts of the votes with --encoder"
        );
    }
    let task = load_task(&data, &context())?;
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
    let model = Model::named(args.model.as_deref().unwrap_or("smallcnn"))?;
    if args.model.is_some() {
        model.network(task.shape(), task.table().classes().len())?;
    }
    let own = NewStudy {
        name: &name,
        file: &file,
        data: &data,
        table: task.table(),
        shape: task.shape(),
        model: args.model.as_deref(),
        augment: &task.augmentation(&model),
        seeds: args.seeds,
        parts: task.split(),
    };
    let text = own.text()?;
    if own.divided() == 0 {
        ui::note("people agree on every item, so all delivery methods give the same labels");
    }
    match &args.out {
        None => ui::out(&text)?,
        Some(path) => {
            dissensus::files::write_bytes(path, args.force, text.as_bytes())?;
            ui::out(&format!("wrote {}\n", path.display()))?;
            let next = format!("dissensus study run {file} --scale quick");
            ui::err(&format!("next: {next}   to check that everything works\n"));
        }
    }
    Ok(())
}
