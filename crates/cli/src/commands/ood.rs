//! `dissensus ood`

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use dissensus::examine::{Ood, OodSettings, Outside, ood};
use dissensus::measure::ood::Row;

use crate::commands::inputs::InputArgs;
use crate::examining::{Models, Terminal};
use crate::ui::table::{Cell, Form, Print as _, Table};
use crate::ui::{self, files, paint, text};

/// Measure out-of-distribution detection by the model of a run.
///
/// In-distribution inputs are the items of the reported part of the run's split; out-of-distribution
/// inputs are the datasets of --out. Every score is "higher = more out-of-distribution": energy, msp, odin, entropy, margin, and
/// knn, the distance to the nearest features of the training items. AUROC is the probability that an
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
    /// The scores, separated by commas [default: all]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    scores: Vec<String>,
    /// The in-distribution part of the split [default: the reported part, the last]
    #[arg(long, value_name = "PART")]
    part: Option<String>,
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
    #[arg(long, value_name = "K", default_value_t = 50)]
    neighbours: usize,
    /// Bootstrap replicates of the intervals
    #[arg(long, value_name = "N", default_value_t = 1000)]
    replicates: usize,
    /// The seed of the bootstrap
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Write the scores of all inputs as CSV
    #[arg(long, value_name = "FILE.csv")]
    raw: Option<PathBuf>,
    #[command(flatten)]
    reading: InputArgs,
    #[command(flatten)]
    models: Models,
    /// Print as JSON, with all figures
    #[arg(long, group = "form")]
    json: bool,
    /// Print as CSV, with all figures, one per row
    #[arg(long, group = "form")]
    csv: bool,
    /// Print as a Markdown table
    #[arg(long, group = "form")]
    markdown: bool,
    /// Print as a LaTeX table (booktabs)
    #[arg(long, group = "form")]
    latex: bool,
}

const EXAMPLES: &str = "\
Examples:
  dissensus ood 0f3a --out cifar100,svhn
  dissensus ood 0f3a --out holiday-photos --scores energy,knn --raw scores.csv";

/// The figures of the printed table.
const SHOWN: [(&str, &str); 3] = [("auroc", "AUROC"), ("aupr_out", "AUPR"), ("fpr95", "FPR95")];

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let infos = args.models.find(std::slice::from_ref(&args.run))?;
    let mut opened = args.models.open()?;
    let mut model = opened.model(&infos[0])?;
    let mut outside: Vec<Outside> = Vec::new();
    for path in &args.out {
        let inputs = args.reading.read(path)?;
        for note in inputs.notes() {
            ui::err(&paint::dim(&format!("{}: {note}\n", inputs.name())));
        }
        let name = text::file_name(&path.display().to_string()).to_owned();
        anyhow::ensure!(
            outside.iter().all(|other| other.name != name),
            "--out has {name} twice; remove one"
        );
        outside.push(Outside::named(name, inputs));
    }
    let mut settings = OodSettings {
        part: args.part.clone(),
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
    let bars = Terminal::default();
    let mut found = ood(&mut model, &outside, &*opened.device, &settings, &bars.observer())?;
    drop(bars);
    if let Some(path) = &args.raw {
        let csv = dissensus::ood_scores_csv(&found);
        files::replace(path, |out| out.write_all(csv.as_bytes()))?;
        ui::err(&format!("wrote {}\n", path.display()));
        found.scores.clear();
    }
    if args.json {
        opened.print(&found)?;
        return Ok(ExitCode::SUCCESS);
    }
    let form = Form::asked(args.csv, args.markdown, args.latex);
    if form == Form::Terminal {
        let sizes = found.outside.iter();
        let sizes: Vec<String> =
            sizes.map(|(name, n)| format!("{name} ({})", text::thousands(*n as u64))).collect();
        let inside = text::thousands(found.inside as u64);
        let title =
            format!("{}, {} ({inside}) against {}\n", model.label(), found.part, sizes.join(", "));
        ui::out(&paint::title(&title))?;
    }
    let table = if form == Form::Csv { every(&found) } else { table(&found) };
    ui::out(&table.print(form))?;
    Ok(ExitCode::SUCCESS)
}

/// The figures with their intervals, by out-of-distribution set and score.
fn table(found: &Ood) -> Table {
    let mut rows = Vec::new();
    for (out, _) in &found.outside {
        let mut scores: Vec<&str> = found.rows.iter().map(|row| row.score).collect();
        scores.dedup();
        for score in scores {
            let cell = |(figure, _)| found.row(score, out, figure).map_or("–".into(), interval);
            let names = [out.clone(), score.to_owned()];
            let cells = names.into_iter().chain(SHOWN.iter().copied().map(cell));
            rows.push(cells.map(Cell::new).collect());
        }
    }
    let mut columns = vec!["out".to_owned(), "score".to_owned()];
    columns.extend(SHOWN.iter().map(|(_, title)| (*title).to_owned()));
    Table::new(columns, 2, rows)
}

fn interval(row: &Row) -> String {
    let value = row.value.map_or("–".to_owned(), |value| format!("{value:.4}"));
    match (row.low, row.high) {
        (Some(low), Some(high)) => format!("{value} [{low:.3}, {high:.3}]"),
        _ => value,
    }
}

fn every(found: &Ood) -> Table {
    let exact = |value: Option<f64>| value.map_or(String::new(), |v| v.to_string());
    let row = |row: &Row| {
        let cells = [
            found.run.clone(),
            row.out.clone(),
            row.score.to_owned(),
            row.figure.to_owned(),
            exact(row.value),
            exact(row.low),
            exact(row.high),
        ];
        cells.map(Cell::new).to_vec()
    };
    let columns = ["run", "out", "score", "figure", "value", "low", "high"];
    let columns = columns.map(str::to_owned).to_vec();
    Table::new(columns, 4, found.rows.iter().map(row).collect())
}
