//! `dissensus ood`

use std::path::PathBuf;

use dissensus::core::limits::MAX_REPLICATES;
use dissensus::examine::{OodSettings, Outside, ood};
use dissensus::measure::ood::SCORES;
use dissensus::tables::ood_table;

use crate::args::{FormArgs, InputArgs, ModelArgs, ask, whole};
use crate::ui::table::{Form, print};
use crate::ui::{self, paint, text};

/// Measure out-of-distribution detection by the model of a run.
///
/// In-distribution inputs are the items of the reported part of the run's split; out-of-distribution
/// inputs are the datasets of --out. Every score is higher for inputs that are more out-of-distribution. AUROC is the probability that an
/// out-of-distribution input scores higher than an in-distribution one (ties count half); 0.5 is
/// chance. Numbers in brackets are 95 % intervals over items. `dissensus metrics explain NAME`
/// explains each score and metric.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The run: its id, or the first digits of it; `dissensus runs` lists them
    #[arg(value_name = "RUN")]
    run: String,
    /// Out-of-distribution inputs, separated by commas: datasets by name (cifar100, svhn), files, or
    /// folders of images
    #[arg(long, value_name = "DATA,…", value_delimiter = ',', required = true)]
    out: Vec<PathBuf>,
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', help = scores())]
    scores: Vec<String>,
    /// The temperature of the energy
    #[arg(long, value_name = "T", default_value_t = 1.0)]
    temperature: f64,
    /// The temperature of ODIN
    #[arg(long, value_name = "T", default_value_t = 1000.0)]
    odin_temperature: f64,
    /// The perturbation of ODIN, in units of normalized inputs
    #[arg(long, value_name = "STEP", default_value_t = 0.0014)]
    epsilon: f64,
    /// The k of knn: the distance to the k-th nearest training item
    #[arg(long, value_name = "K", default_value_t = 50, value_parser = whole::<usize>(1..=1_000_000))]
    neighbours: usize,
    /// Bootstrap replicates of the intervals
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = whole::<usize>(0..=MAX_REPLICATES as u64), allow_negative_numbers = true)]
    replicates: usize,
    /// The seed of the bootstrap
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<u64>(0..=u64::MAX), allow_negative_numbers = true)]
    seed: u64,
    /// Write the scores of all inputs as CSV
    #[arg(long, value_name = "FILE.csv")]
    raw: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    reading: InputArgs,
    #[command(flatten)]
    models: ModelArgs,
    #[command(flatten)]
    form: FormArgs,
}

fn scores() -> String {
    let names: Vec<&str> = SCORES.iter().map(|score| score.about.name).collect();
    format!("The scores, separated by commas, of {} [default: all]", names.join(", "))
}

const EXAMPLES: &str = "\
Examples:
  dissensus ood 0f3a --out cifar100,svhn
  dissensus ood 0f3a --out holiday-photos --scores energy,knn --raw scores.csv";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    dissensus::files::check_free(args.raw.as_deref(), args.force)?;
    let mut opened = args.models.open(&[&args.run])?;
    let mut outside: Vec<Outside> = Vec::new();
    for path in &args.out {
        let inputs = args.reading.read(path)?;
        let name = text::file_name(&path.display().to_string()).to_owned();
        anyhow::ensure!(
            outside.iter().all(|other| other.name != name),
            "--out has {name} twice; remove one"
        );
        outside.push(Outside::named(name, inputs));
    }
    let mut settings = OodSettings {
        part: args.models.part.clone(),
        scores: args.scores.clone(),
        keep: args.raw.is_some(),
        ..Default::default()
    };
    settings.chosen.temperature = args.temperature;
    settings.chosen.odin_temperature = args.odin_temperature;
    settings.chosen.epsilon = args.epsilon;
    settings.chosen.neighbours = args.neighbours;
    settings.chosen.replicates = args.replicates;
    settings.chosen.seed = args.seed;
    let (mut models, device) = (std::mem::take(&mut opened.models), opened.device());
    let mut found = ask("", |observer| ood(&mut models[0], &outside, device, &settings, observer))?;
    if let Some(path) = &args.raw {
        let scores = dissensus::ood_scores_csv(&found);
        dissensus::files::write_bytes(path, args.force, scores.as_bytes())?;
        ui::wrote(path, "");
        found.scores.clear();
    }
    let Some(form) = args.form.table() else { return opened.json(&found) };
    if form == Form::Terminal {
        let size = |(name, n): &(String, usize)| format!("{name} ({})", text::thousands(*n));
        let sizes: Vec<String> = found.outside.iter().map(size).collect();
        let (label, part) = (models[0].label(), &found.part);
        let (inside, sizes) = (text::thousands(found.inside), sizes.join(", "));
        ui::out(&paint::title(&format!("{label}, {part} ({inside}) against {sizes}\n")))?;
    }
    print(&[ood_table(&found, form)], form)
}
