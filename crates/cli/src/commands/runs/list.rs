//! `dissensus runs list`

use std::path::PathBuf;
use std::process::ExitCode;

use dissensus::RunRow;
use dissensus::store::{Broken, Listing, RunId, State};
use dissensus::train::RunSpec;
use serde::Serialize;

use super::store::StoreArgs;
use super::words;
use crate::evaluation::number;
use crate::ui::table::{Cell, Form, Print as _, Table};
use crate::ui::{self, paint, text};

/// List all runs of a store, the oldest first.
///
/// soft_nll and accuracy are those of the selected epoch on the last part of the split. Runs that
/// cannot be read come last, with the reason on standard error.
#[derive(clap::Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// Print as JSON
    #[arg(long, group = "form")]
    json: bool,
    /// Print as CSV, with full ids, and with sizes in bytes and times in seconds since 1970
    #[arg(long, group = "form")]
    csv: bool,
    /// Print as a Markdown table
    #[arg(long, group = "form")]
    markdown: bool,
}

/// A run that cannot be read.
#[derive(Serialize)]
struct Unread {
    id: Option<RunId>,
    folder: PathBuf,
    reason: String,
}

#[derive(Serialize)]
struct Report {
    store: PathBuf,
    runs: Vec<RunRow>,
    broken: Vec<Unread>,
}

pub(super) fn run(args: &ListArgs) -> anyhow::Result<ExitCode> {
    let store = match args.store.open() {
        // The usual store is not missing: nothing was trained yet.
        Err(_) if !args.store.path().exists() && args.store.flag().is_empty() => None,
        store => Some(store?),
    };
    let listing = match &store {
        Some(store) => store.runs()?,
        None => Listing::default(),
    };
    let mut rows = Vec::new();
    for run in &listing.runs {
        match RunRow::read(run) {
            Ok(row) => rows.push(row),
            // Removed meanwhile.
            Err(_) if !run.folder.exists() => {}
            Err(error) => return Err(error.into()),
        }
    }
    if args.json {
        let unread = |broken: &Broken| Unread {
            id: broken.id.clone(),
            folder: broken.folder.clone(),
            reason: broken.error.to_string(),
        };
        let broken = listing.broken.iter().map(unread).collect();
        let report = Report { store: args.store.path().to_owned(), runs: rows, broken };
        ui::out(&format!("{}\n", serde_json::to_string_pretty(&report)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    if rows.is_empty() && listing.broken.is_empty() {
        ui::err(&format!(
            "{} has no runs yet; train some with\n  dissensus train --template > study.toml\n  \
             dissensus train study.toml{}\n",
            args.store.path().display(),
            args.store.flag()
        ));
        return Ok(ExitCode::SUCCESS);
    }
    let form = Form::asked(args.csv, args.markdown, false);
    let page = to_table(&rows, &listing, form).print(form);
    ui::out(&if form == Form::Terminal { coloured(page) } else { page })?;
    say_notes(&listing);
    Ok(ExitCode::SUCCESS)
}

fn cells(run: &RunRow, digits: usize, form: Form) -> Vec<Cell> {
    let text = |text: &Option<String>| match text {
        Some(text) => text::one_line(text, 40),
        None => "–".to_owned(),
    };
    let seed = run.seed.map_or("–".to_owned(), |seed| seed.to_string());
    let epochs = format!("{}/{}", run.epoch, run.planned);
    let cells = match form {
        Form::Csv => {
            let full = |v: Option<f64>| v.map_or(String::new(), |v| v.to_string());
            vec![
                run.id.to_string(),
                run.arm.clone().unwrap_or_default(),
                run.data.clone().unwrap_or_default(),
                run.state.to_owned(),
                run.seed.map_or(String::new(), |seed| seed.to_string()),
                run.epoch.to_string(),
                run.planned.to_string(),
                full(run.soft_nll),
                full(run.accuracy),
                run.created.to_string(),
                run.size_bytes.to_string(),
            ]
        }
        _ => vec![
            short(&run.id, digits).to_owned(),
            text(&run.arm),
            text(&run.data),
            marked(run.state, form),
            seed,
            epochs,
            number(run.soft_nll),
            number(run.accuracy),
            words::age(run.created),
            text::size(run.size_bytes),
        ],
    };
    cells.into_iter().map(Cell::new).collect()
}

fn to_table(rows: &[RunRow], listing: &Listing, form: Form) -> Table {
    let ids = || {
        let broken = listing.broken.iter().filter_map(|broken| broken.id.as_ref());
        rows.iter().map(|row| &row.id).chain(broken)
    };
    let digits = unique_digits(ids().map(RunId::as_str).collect());
    let columns = match form {
        Form::Csv => "id arm data state seed epochs planned soft_nll accuracy created bytes",
        _ => "id arm data state seed epochs soft_nll↓ accuracy↑ age size",
    };
    let columns: Vec<String> = columns.split(' ').map(str::to_owned).collect();
    let mut table: Vec<Vec<Cell>> = rows.iter().map(|row| cells(row, digits, form)).collect();
    for broken in &listing.broken {
        let name = broken.folder.file_name().unwrap_or_default().to_string_lossy();
        let id = match (&broken.id, form) {
            (Some(id), Form::Terminal | Form::Markdown) => short(id, digits).to_owned(),
            _ => text::one_line(&name, 40),
        };
        let none = if form == Form::Csv { "" } else { "–" };
        let mut row = vec![Cell::new(none); columns.len()];
        (row[0], row[3]) = (Cell::new(id), Cell::new(marked("broken", form)));
        table.push(row);
    }
    Table::new(columns, 4, table)
}

/// The number of digits that distinguishes all ids, at least 8.
fn unique_digits(mut ids: Vec<&str>) -> usize {
    ids.sort_unstable();
    let shared =
        |pair: &[&str]| pair[0].bytes().zip(pair[1].bytes()).take_while(|(a, b)| a == b).count();
    ids.windows(2).map(|pair| shared(pair) + 1).max().unwrap_or(0).max(8)
}

fn short(id: &RunId, digits: usize) -> &str {
    id.as_str().get(..digits).unwrap_or(id.as_str())
}

/// Marks a state until the columns are aligned: it has no width and occurs in no name.
const MARK: char = '\u{2060}';

fn marked(state: &str, form: Form) -> String {
    match form {
        Form::Terminal => format!("{MARK}{state}{MARK}"),
        _ => state.to_owned(),
    }
}

/// Paints what is marked.
fn coloured(page: String) -> String {
    let part = |(at, part): (usize, &str)| match (at % 2, part) {
        (1, "failed" | "broken") => paint::bad(part),
        (1, "running" | "interrupted") => paint::warn(part),
        _ => part.to_owned(),
    };
    page.split(MARK).enumerate().map(part).collect()
}

/// Why runs failed or cannot be read.
fn say_notes(listing: &Listing) {
    for run in &listing.runs {
        if let State::Failed { reason } = &run.status.state {
            let line = format!("{} failed: {}", run.id, text::one_line(reason, 300));
            ui::err(&format!("{}\n", paint::dim(&line)));
        }
        if let Err(error) = serde_json::from_value::<RunSpec>(run.spec.clone()) {
            let line = format!("{}: its spec is not one of this version: {error}", run.id);
            ui::err(&format!("{}\n", paint::warn(&line)));
        }
    }
    for broken in &listing.broken {
        ui::err(&format!("{}\n", paint::warn(&broken.error.to_string())));
        if let Some(remedy) = ui::hints::store_hint(&broken.error) {
            ui::err(&format!("{} {remedy}\n", paint::strong("hint:")));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_as_long_as_it_takes() {
        assert_eq!(unique_digits(vec![]), 8);
        assert_eq!(unique_digits(vec!["0123456789abcdef"]), 8);
        assert_eq!(unique_digits(vec!["0123456789abcdef", "f123456789abcdef"]), 8);
        let near = ["0123456789abcdef", "ffffffffffffffff", "01234567890bcdef"];
        assert_eq!(unique_digits(near.to_vec()), 11);
    }

    #[test]
    fn only_what_is_marked_is_painted() {
        let page = format!(
            "failed {}\nrunning {}\n",
            marked("failed", Form::Terminal),
            marked("finished", Form::Terminal)
        );
        assert_eq!(coloured(page), format!("failed {}\nrunning finished\n", paint::bad("failed")));
        assert_eq!(text::width(&marked("failed", Form::Terminal)), 6);
        assert_eq!(text::one_line(&marked("failed", Form::Terminal), 40), " failed ");
        assert_eq!(marked("failed", Form::Csv), "failed");
    }
}
