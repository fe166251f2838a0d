//! `dissensus score`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use dissensus::core::VoteTable;
use dissensus::io::FileError;
use dissensus::measure::{Direction, Metric, Note, Settings};
use dissensus::report::figures::Form as FigureForm;
use dissensus::{Evaluated, LoadContext, Scores, Silent, format_number as number};
use serde::Serialize;

use super::runs::StoreArgs;
use crate::evaluation::EvaluateArgs;
use crate::ui::table::{Cell, Form, Print as _, Table};
use crate::ui::{self, paint, progress, text};

/// Evaluate predictions against the votes.
///
/// Predictions come from any model: .npy, .npz, CSV, JSON Lines, Parquet, safetensors, or
/// ChaosNLI's layout with several models in one file. They are matched with the votes by id,
/// or by position if they have no ids, which is then printed. Every number has a 95 % bootstrap
/// interval over the items, and the best value of each column is bold. `dissensus metrics explain
/// NAME` explains a metric.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Files of predictions
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    predictions: Vec<PathBuf>,
    #[command(flatten)]
    evaluation: EvaluateArgs,
    /// Also evaluate slices of the items: `entropy` slices them by how much people disagree
    #[arg(long, value_name = "WHAT", value_parser = ["entropy"])]
    by: Option<String>,
    /// Number of slices
    #[arg(long, value_name = "N", default_value_t = 4, requires = "by")]
    slices: usize,
    /// Print as JSON, with every setting
    #[arg(long, group = "form")]
    json: bool,
    /// Print as CSV, with separate columns for the intervals
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
    /// The run whose model made the predictions: warn where items are in its training part
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    #[command(flatten)]
    store: StoreArgs,
}

#[derive(Serialize)]
struct Report<'a> {
    votes: String,
    settings: Settings,
    replicates: usize,
    seed: u64,
    notes: &'a [String],
    scores: &'a [Scores],
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let options = args.evaluation.options()?;
    let chosen = options.chosen()?;
    let table = args.evaluation.read_votes()?;
    let evaluated = args.evaluation.evaluate(&table, &args.predictions, &options, false)?;
    evaluated.print_notes();
    if let Some(run) = &args.run {
        warn_trained(run, &args.store, &evaluated.models, &table)?;
    }
    let bar = progress::Terminal::named("scoring");
    let mut scores = Vec::new();
    for model in &evaluated.models {
        match args.by {
            Some(_) => scores.extend(model.score_by_entropy(args.slices, &options, &bar)?),
            None => scores.push(model.score(&options, &bar)?),
        }
    }
    if let Some(folder) = &args.svg {
        draw(folder, &evaluated.models, options.settings, args.force)?;
    }
    let form = Form::asked(args.csv, args.markdown, args.latex);
    if args.json {
        let report = Report {
            votes: args.evaluation.votes.display().to_string(),
            settings: options.settings,
            replicates: options.replicates,
            seed: options.seed,
            notes: &evaluated.notes,
            scores: &scores,
        };
        ui::out(&format!("{}\n", serde_json::to_string_pretty(&report)?))?;
    } else {
        ui::out(&to_table(&scores, &chosen, args.by.is_some(), form).print(form))?;
        say_notes(&scores);
    }
    Ok(ExitCode::SUCCESS)
}

/// Warns where the run was trained on some of the items.
fn warn_trained(
    run: &str,
    store: &StoreArgs,
    models: &[Evaluated],
    table: &VoteTable,
) -> anyhow::Result<()> {
    let (store, info) = (store.open()?, store.find(run)?);
    let Some(trained) = dissensus::trained_on(&info, &store, &LoadContext::new(&Silent))? else {
        let line = "the data of the run are not found: its training part is not known";
        ui::err(&format!("{} {line}\n", paint::warn("note:")));
        return Ok(());
    };
    for model in models {
        let id = |at: &&usize| table.items().name(**at);
        let is_trained =
            |at: &&usize| trained.ids().is_some_and(|ids| ids.position(id(at)).is_some());
        let same = model.items.iter().filter(is_trained).count();
        if same > 0 {
            let (same, all) =
                (text::thousands(same as u64), text::thousands(model.items.len() as u64));
            ui::err(&format!(
                "{} {}: {same} of {all} items are in the training part of the run: scores on them say \
                 nothing of new items\n",
                paint::warn("warning:"),
                model.name
            ));
        }
    }
    Ok(())
}

fn to_table(scores: &[Scores], chosen: &[&'static Metric], sliced: bool, form: Form) -> Table {
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
            _ => columns
                .push(format!("{name} {}", metric.about.direction.arrow()).trim_end().to_owned()),
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
            let text = format!("{}{range}", number(cell.value));
            row.push(Cell { bold: best, ..Cell::new(text) });
        }
        rows.push(row);
    }
    Table::new(columns, names, rows)
}

/// Whether no other model does better on the same slice (and there is another).
fn is_best(scores: &[Scores], score: &Scores, at: usize, direction: Direction) -> bool {
    let rivals: Vec<f64> = scores
        .iter()
        .filter(|other| other.slice == score.slice)
        .filter_map(|other| other.metrics[at].value)
        .collect();
    let Some(value) = score.metrics[at].value.filter(|_| rivals.len() > 1) else {
        return false;
    };
    direction.is_directed() && !rivals.iter().any(|rival| direction.is_better(*rival, value))
}

/// Prints the notes on numbers.
fn say_notes(scores: &[Scores]) {
    for score in scores {
        for cell in &score.metrics {
            let Some(note) = cell.note else { continue };
            let line = format!("{}, {}: {note}", score.model, cell.metric);
            ui::err(&format!("{}\n", paint::warn(&line)));
            if matches!(note, Note::Infinite { .. }) {
                ui::err(&format!("{} --clip 1e-12 makes it finite\n", paint::strong("hint:")));
            }
        }
    }
}

/// Draws the figures of `--svg`.
fn draw(
    folder: &Path,
    models: &[Evaluated],
    settings: Settings,
    force: bool,
) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).map_err(|error| FileError::new(folder, error))?;
    for model in models {
        for figure in model.figures(settings)? {
            let path = folder.join(format!("{}-{}.svg", file_name(&model.name), figure.name));
            ui::files::write_text(&path, force, &figure.svg(FigureForm::File))?;
            ui::err(&format!("wrote {}\n", path.display()));
        }
    }
    Ok(())
}

/// A model's name as part of a file name.
fn file_name(name: &str) -> String {
    let fine = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    let name: String = name.chars().map(fine).collect();
    name.trim_matches(['-', '.']).to_owned()
}
