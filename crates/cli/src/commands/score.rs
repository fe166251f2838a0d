//! `dissensus score`

use std::path::PathBuf;
use std::process::ExitCode;

use dissensus_measure::slices::by_entropy;
use dissensus_measure::{Direction, Judged, Metric};
use serde::Serialize;

use crate::judging::{Interval, JudgeArgs, Model, interval, metrics, number};
use crate::ui::table::{Cell, Form, Table};
use crate::ui::{self, paint, progress, text};

mod figures;

/// Judge predictions against how people voted.
///
/// Predictions come from any model: .npy, .npz, CSV, JSON Lines, Parquet, safetensors, or
/// ChaosNLI's layout with several models in one file. They are matched with the votes by id;
/// without ids by position, and that is said. Every number has a 95 % bootstrap interval over the
/// items, and the best of each column is bold. `dissensus metrics explain NAME` says how a number
/// is made.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Files of predictions
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    predictions: Vec<PathBuf>,
    #[command(flatten)]
    judge: JudgeArgs,
    /// Judge slices of the items apart: `entropy` cuts them by how much people disagree
    #[arg(long, value_name = "WHAT", value_parser = ["entropy"])]
    by: Option<String>,
    /// How many slices
    #[arg(long, value_name = "N", default_value_t = 4, requires = "by")]
    slices: usize,
    /// Print as JSON, with every setting
    #[arg(long, group = "form")]
    json: bool,
    /// Print as CSV, intervals in columns of their own
    #[arg(long, group = "form")]
    csv: bool,
    /// Print as a Markdown table
    #[arg(long, group = "form")]
    markdown: bool,
    /// Print as a LaTeX table (booktabs)
    #[arg(long, group = "form")]
    latex: bool,
    /// Draw reliability diagrams and entropy scatters into this folder
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
    /// Replace figures that exist
    #[arg(long)]
    force: bool,
}

/// A model on some items.
#[derive(Serialize)]
struct Scored {
    model: String,
    slice: String,
    items: usize,
    metrics: Vec<Interval>,
}

#[derive(Serialize)]
struct Report<'a> {
    votes: String,
    settings: dissensus_measure::Settings,
    replicates: usize,
    seed: u64,
    notes: &'a [String],
    scores: &'a [Scored],
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let chosen = metrics(&args.judge.metrics)?;
    let table = args.judge.read_votes()?;
    let judged = args.judge.judge(&table, &args.predictions, false)?;
    judged.print_notes();
    let mut scores = Vec::new();
    let slices = if args.by.is_some() { 1 + args.slices } else { 1 };
    let bar = progress::steps(judged.models.len() * slices * chosen.len(), "scoring");
    for model in &judged.models {
        for (slice, part) in parts(args, model)? {
            let part = part.as_ref().unwrap_or(&model.judged);
            let of = |metric: &&'static Metric| {
                let (replicates, seed) = (args.judge.replicates, args.judge.seed);
                bar.inc(1);
                interval(part, metric, args.judge.settings(), replicates, seed)
            };
            let metrics = chosen.iter().map(of).collect::<anyhow::Result<Vec<_>>>()?;
            scores.push(Scored { model: model.name.clone(), slice, items: part.len(), metrics });
        }
    }
    bar.finish_and_clear();
    if let Some(folder) = &args.svg {
        figures::draw(folder, &judged.models, &args.judge, args.force)?;
    }
    let form = Form::asked(args.csv, args.markdown, args.latex);
    if args.json {
        let report = Report {
            votes: args.judge.votes.display().to_string(),
            settings: args.judge.settings(),
            replicates: args.judge.replicates,
            seed: args.judge.seed,
            notes: &judged.notes,
            scores: &scores,
        };
        ui::out(&format!("{}\n", serde_json::to_string_pretty(&report)?))?;
    } else {
        ui::out(&to_table(&scores, &chosen, args.by.is_some(), form).print(form))?;
        say_notes(&scores);
    }
    Ok(ExitCode::SUCCESS)
}

/// The slices of a model's items, each with a name; `None` stands for all of them.
fn parts(args: &Args, model: &Model) -> anyhow::Result<Vec<(String, Option<Judged>)>> {
    let mut parts = vec![("all".to_owned(), None)];
    if args.by.is_some() {
        for slice in by_entropy(model.judged.truth(), args.slices)? {
            let name = format!(
                "{:.0}–{:.0} % (H {:.3}–{:.3})",
                100.0 * slice.from,
                100.0 * slice.to,
                slice.lower,
                slice.upper
            );
            parts.push((name, Some(model.judged.select(&slice.items)?)));
        }
    }
    Ok(parts)
}

/// An arrow in the direction that is better.
fn arrow(direction: Direction) -> &'static str {
    match direction {
        Direction::Lower => " ↓",
        Direction::Higher => " ↑",
        Direction::Neither | Direction::HigherIsOut => "",
    }
}

fn to_table(scores: &[Scored], chosen: &[&'static Metric], sliced: bool, form: Form) -> Table {
    let mut columns = vec!["model".to_owned()];
    columns.extend(sliced.then(|| "slice".to_owned()));
    columns.push("items".to_owned());
    let names = columns.len() - 1;
    for metric in chosen {
        let name = metric.about.name;
        match form {
            Form::Csv => {
                columns.extend([name.to_owned(), format!("{name}_low"), format!("{name}_high")])
            }
            _ => columns.push(format!("{name}{}", arrow(metric.about.direction))),
        }
    }
    let mut rows = Vec::new();
    for score in scores {
        let mut row = vec![Cell::new(text::one_line(&score.model, 40))];
        row.extend(sliced.then(|| Cell::new(&score.slice)));
        let items = score.items as u64;
        row.push(Cell::new(if form == Form::Csv {
            items.to_string()
        } else {
            text::thousands(items)
        }));
        for (at, cell) in score.metrics.iter().enumerate() {
            if form == Form::Csv {
                let full = |v: Option<f64>| Cell::new(v.map_or(String::new(), |v| v.to_string()));
                row.extend([full(cell.value), full(cell.low), full(cell.high)]);
                continue;
            }
            let range = match (cell.low, cell.high) {
                (Some(low), Some(high)) => {
                    format!(" [{}, {}]", number(Some(low)), number(Some(high)))
                }
                _ => String::new(),
            };
            let best = is_best(scores, score, at, chosen[at].about.direction);
            row.push(Cell { text: format!("{}{range}", number(cell.value)), best });
        }
        rows.push(row);
    }
    Table { columns, names, rows }
}

/// Whether no other model does better on the same slice (and there is another).
fn is_best(scores: &[Scored], score: &Scored, at: usize, direction: Direction) -> bool {
    let rivals: Vec<f64> = scores
        .iter()
        .filter(|other| other.slice == score.slice)
        .filter_map(|other| other.metrics[at].value)
        .collect();
    let Some(value) = score.metrics[at].value.filter(|_| rivals.len() > 1) else {
        return false;
    };
    match direction {
        Direction::Lower => rivals.iter().all(|rival| value <= *rival),
        Direction::Higher => rivals.iter().all(|rival| value >= *rival),
        Direction::Neither | Direction::HigherIsOut => false,
    }
}

/// Says what must be said beside a number.
fn say_notes(scores: &[Scored]) {
    for score in scores {
        for cell in score.metrics.iter().filter(|cell| cell.note.is_some()) {
            let note = cell.note.as_deref().unwrap_or_default();
            let line = format!("{}, {}: {note}", score.model, cell.metric);
            ui::err(&format!("{}\n", paint::warn(&line)));
            if note.starts_with("infinite") {
                ui::err(&format!("{} --clip 1e-12 makes it finite\n", paint::strong("hint:")));
            }
        }
    }
}
