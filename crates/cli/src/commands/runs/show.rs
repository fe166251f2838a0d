//! `dissensus runs show ID`

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use dissensus::store::{Continued, RunId, RunInfo, State, Status, Which};
use dissensus::train::{EpochRow, PartResult, RunResult, RunSpec};
use dissensus::{RunFile, run_files, state_name};
use serde::Serialize;
use serde_json::Value;

use super::store::{StoreArgs, quoted};
use super::words;
use crate::evaluation::number;
use crate::ui::table::{Cell, Form, Print as _, Table};
use crate::ui::{self, paint, text};

/// Show everything about a run.
///
/// Shows its data and settings, its state, curves of the loss and of the selecting metric, all metrics
/// of the selected and of the last epoch, its files, and commands to use them.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The run: its id, or the first digits of it
    #[arg(value_name = "RUN")]
    id: String,
    #[command(flatten)]
    store: StoreArgs,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

/// Columns of a curve, and of a line of settings.
const CURVE: usize = 50;
const LINE: usize = 84;

#[derive(Serialize)]
struct Report<'a> {
    id: &'a RunId,
    label: Option<String>,
    #[serde(flatten)]
    status: &'a Status,
    created: u64,
    continued: &'a [Continued],
    about: &'a Value,
    spec: &'a Value,
    result: Option<&'a RunResult>,
    history: &'a [EpochRow],
    folder: &'a Path,
    size_bytes: u64,
    files: &'a [RunFile],
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let run = args.store.find(&args.id)?;
    let (history, result): (Vec<EpochRow>, Option<RunResult>) = (run.history()?, run.result()?);
    let files = run_files(&run.folder);
    let label = label(&run);
    if args.json {
        let report = Report {
            id: &run.id,
            label,
            status: &run.status,
            created: run.created,
            continued: &run.continued,
            about: &run.about,
            spec: &run.spec,
            result: result.as_ref(),
            history: &history,
            folder: &run.folder,
            size_bytes: run.size_bytes(),
            files: &files,
        };
        ui::out(&format!("{}\n", serde_json::to_string_pretty(&report)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut page = String::new();
    let title = label.unwrap_or_else(|| format!("run {}", run.id));
    writeln!(page, "{}", paint::title(&text::one_line(&title, 80)))?;
    print_status(&mut page, &run, result.as_ref())?;
    print_settings(&mut page, &run)?;
    print_curves(&mut page, &run, &history)?;
    print_figures(&mut page, result.as_ref())?;
    let place = run.folder.display();
    writeln!(page, "\n{}", paint::title(&format!("Files in {place}")))?;
    let width = files.iter().map(|file| text::width(&name(file, &run))).max().unwrap_or(0);
    for file in &files {
        let name = text::pad(&name(file, &run), width);
        writeln!(page, "  {name}  {}", paint::dim(&text::size(file.bytes)))?;
    }
    let next = next(&run, &args.store);
    if !next.is_empty() {
        writeln!(page, "\n{}", paint::title("Next"))?;
    }
    next.iter().try_for_each(|line| writeln!(page, "  {line}"))?;
    ui::out(&page)?;
    Ok(ExitCode::SUCCESS)
}

/// The label of the run; `None` if its spec is of another version.
pub(super) fn label(run: &RunInfo) -> Option<String> {
    serde_json::from_value(run.spec.clone()).ok().map(|spec: RunSpec| spec.label())
}

fn name(file: &RunFile, run: &RunInfo) -> String {
    let inside = file.path.strip_prefix(&run.folder).unwrap_or(&file.path);
    text::one_line(&inside.display().to_string(), 60)
}

/// A name and a text, wrapped if it is long.
fn row(page: &mut String, name: &str, parts: &str) -> std::fmt::Result {
    let mut lines = vec![String::new()];
    for part in parts.split_inclusive("; ") {
        match lines.last_mut() {
            Some(line) if line.is_empty() || text::width(line) + text::width(part) <= LINE => {
                line.push_str(part);
            }
            _ => lines.push(part.to_owned()),
        }
    }
    for (at, line) in lines.iter().enumerate() {
        let name = text::pad(if at == 0 { name } else { "" }, 11);
        writeln!(page, "  {} {}", paint::dim(&name), line.trim_end())?;
    }
    Ok(())
}

fn print_status(page: &mut String, run: &RunInfo, result: Option<&RunResult>) -> std::fmt::Result {
    let Status { state, epoch, planned, .. } = &run.status;
    let name = state_name(state);
    let name = match state {
        State::Finished => name.to_owned(),
        State::Running | State::Interrupted => paint::warn(name),
        State::Failed { .. } => paint::bad(name),
    };
    let early = if result.is_some_and(|r| r.stopped_early) { ", stopped early" } else { "" };
    row(page, "run", run.id.as_str())?;
    row(page, "state", &format!("{name}, {epoch} of {planned} epochs{early}"))?;
    if let State::Failed { reason } = state {
        row(page, "reason", &text::one_line(reason, 300))?;
    }
    if let Some(result) = result {
        let by = text::one_line(&result.selected_by, 60);
        row(page, "selected", &format!("epoch {} by {by}", result.best_epoch + 1))?;
        let items = text::thousands(result.train_items as u64);
        row(page, "trained", &format!("on {items} items in {:.1} s", result.seconds))?;
        row(page, "parameters", &text::thousands(result.parameters as u64))?;
    }
    let mut begun = format!("{} ago", words::age(run.created));
    for continued in &run.continued {
        write!(begun, "; continued {} ago", words::age(continued.at))?;
    }
    row(page, "begun", &begun)?;
    match &run.about {
        Value::Object(about) => {
            for (key, value) in about {
                row(page, &words::words(key), &words::setting(value))?;
            }
        }
        Value::Null => {}
        other => row(page, "about", &words::setting(other))?,
    }
    row(page, "size", &text::size(run.size_bytes()))
}

/// The spec as it is stored, so that nothing is left out and older ones can be shown, too.
fn print_settings(page: &mut String, run: &RunInfo) -> std::fmt::Result {
    writeln!(page, "\n{}", paint::title("Settings"))?;
    let data = &run.spec["data"];
    row(page, "data", &data_line(data))?;
    if data["judged_on"].is_object() {
        row(page, "evaluate on", &data_line(&data["judged_on"]))?;
    }
    for (key, value) in run.spec["run"].as_object().into_iter().flatten() {
        let text = match value.is_object() && value.get("name").is_none() {
            true => words::settings(value, "; "),
            false => words::setting(value),
        };
        row(page, &words::words(key), &text)?;
    }
    Ok(())
}

/// A dataset in a line.
fn data_line(data: &Value) -> String {
    let name = data["name"].as_str().unwrap_or("not named");
    let items = data["items"].as_u64().map_or("–".to_owned(), text::thousands);
    let digest = |key: &str| data[key].as_str().and_then(|d| d.get(..12)).unwrap_or("–").to_owned();
    let (votes, inputs) = (digest("votes_digest"), digest("inputs_digest"));
    let name = text::one_line(name, 40);
    format!("{name}, {items} items; votes {votes}…; inputs {inputs}…")
}

fn print_curves(page: &mut String, run: &RunInfo, history: &[EpochRow]) -> std::fmt::Result {
    if history.is_empty() {
        return Ok(());
    }
    writeln!(page, "\n{}", paint::title("Epochs"))?;
    let selection = &run.spec["run"]["selection"];
    let selecting = selection["on"].as_str().zip(selection["metric"].as_str());
    let mut keys = vec!["loss".to_owned()];
    keys.extend(selecting.map(|(on, metric)| format!("{on}.{metric}")));
    let width = keys.iter().map(|key| text::width(key)).max().unwrap_or(0);
    for key in &keys {
        let values: Vec<Option<f64>> = history.iter().map(|row| row.column(key)).collect();
        let ends = [values.first(), values.last()].map(|value| number(value.copied().flatten()));
        writeln!(
            page,
            "  {}  {}  {} → {}",
            paint::dim(&text::pad(key, width)),
            words::curve(&values, CURVE),
            ends[0],
            ends[1],
        )?;
    }
    Ok(())
}

/// Every metric of the selected and the last epoch, for each part.
fn print_figures(page: &mut String, result: Option<&RunResult>) -> std::fmt::Result {
    let Some(parts) = result.map(|result| &result.parts) else {
        return Ok(());
    };
    writeln!(page, "\n{}", paint::title("Figures"))?;
    let both = [Which::Best, Which::Last];
    let mut columns = vec!["metric".to_owned()];
    let head = |part: &str, which: Which| format!("{part} {}", which.name());
    columns.extend(parts.iter().flat_map(|(part, _)| both.map(|which| head(part, which))));
    let names = parts.iter().take(1).flat_map(|(_, part)| part.best.iter());
    let rows = names.map(|(metric, _)| {
        let value = |(part, which): (&PartResult, Which)| number(part.metrics(which).get(metric));
        let cells = parts.iter().flat_map(|(_, part)| both.map(|which| (part, which)));
        let mut row = vec![Cell::new(metric)];
        row.extend(cells.map(value).map(Cell::new));
        row
    });
    let table = Table::new(columns, 1, rows.collect());
    for line in table.print(Form::Terminal).lines() {
        writeln!(page, "  {line}")?;
    }
    Ok(())
}

/// What can be done with the run now.
fn next(run: &RunInfo, store: &StoreArgs) -> Vec<String> {
    let (id, flag) = (&run.id, store.flag());
    let mut lines = Vec::new();
    let path = run.predictions_path(Which::Best);
    if path.exists() {
        lines.push(format!("dissensus score --votes VOTES --predictions {}", quoted(&path)));
    }
    match &run.status.state {
        State::Finished => {
            lines.push(format!("dissensus predict {id} DATA --out predictions.npz{flag}"));
        }
        State::Running => {}
        State::Interrupted => {
            lines.push(format!(
                "train its spec again{}: it continues where it stopped",
                into(&flag)
            ));
        }
        State::Failed { .. } => {
            lines.push(format!("train its spec again{}: it starts again", into(&flag)));
        }
    }
    if run.status.state != State::Running {
        lines.push(format!("dissensus runs rm {id}{flag}"));
    }
    lines
}

fn into(flag: &str) -> String {
    if flag.is_empty() { String::new() } else { format!(" with{flag}") }
}
