//! From a study in a store to files: what `report`, `study run` and `demo` share.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;
use dissensus::{WrittenReport, write_report};
use dissensus_report::tables::{Cell as Shown, Head, Table as Prepared};
use dissensus_store::Store;
use dissensus_studies::Plan;

use crate::ui::table::{Cell, Form, Table};
use crate::ui::{self, paint};

/// What was written, and what is missing from it.
pub(crate) fn words(written: &WrittenReport, out: &Path) -> String {
    let mut words = format!("wrote {} files into {}\n", written.files, out.display());
    for problem in &written.problems {
        words += &format!("{} {problem}\n", paint::bad("left out:"));
    }
    let open = [(written.failed, "failed"), (written.missing, "are not finished")];
    let open = open.into_iter().filter(|(count, _)| *count > 0);
    let open: Vec<String> = open.map(|(count, how)| format!("{count} {how}")).collect();
    if !open.is_empty() {
        let (note, open) = (paint::warn("note:"), open.join(" and "));
        words += &format!("{note} of the study's runs, {open}\n");
    }
    if !written.unexamined.is_empty() {
        let one = |(stage, runs): &(String, usize)| format!("{stage} ({runs} runs)");
        let stages = written.unexamined.iter().map(one).collect::<Vec<_>>().join(", ");
        let note = paint::warn("note:");
        words += &format!(
            "{note} no results of {stages}: these stages did not run while the weights were there\n"
        );
    }
    words
}

/// A path beside a store, of its name and this.
pub(crate) fn beside(store: &Path, ending: &str) -> PathBuf {
    // `.` has a name only where it really lies; what is written does not belong into the store.
    let place = match store.file_name() {
        Some(_) => store.to_owned(),
        None => store.canonicalize().unwrap_or_else(|_| store.to_owned()),
    };
    let name = place.file_name().map_or("runs".into(), |name| name.to_string_lossy().into_owned());
    place.with_file_name(name + ending)
}

/// Writes a report into this folder or one beside the store; says what was written, and where the
/// page is.
pub(crate) fn write_and_say(
    plan: &Plan<'_>,
    store: &Store,
    out: Option<&Path>,
) -> anyhow::Result<WrittenReport> {
    let out = out.map_or_else(|| beside(store.path(), "-report"), Path::to_owned);
    let written = write_report(plan, store, &out)?;
    ui::err(&words(&written, &out));
    ui::out(&format!("{}\n", written.page.display()))?;
    Ok(written)
}

/// Opens a page in whatever opens pages here.
pub(crate) fn open(page: &Path) -> anyhow::Result<()> {
    let (program, before): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/C", "start", ""]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(program);
    command.args(before).arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().with_context(|| {
        format!("{program} is not there to open it; open {} in a browser", page.display())
    })?;
    Ok(())
}

/// Letters of a cell from which a table of words is a list instead: beside each other such cells
/// would be longer than any terminal.
const LONG: usize = 60;

/// A table of words as a list: what each line is about, and below it a line for each column.
fn listed(table: &Prepared) -> String {
    let mut page = format!("{}\n", paint::title(&table.title));
    for line in &table.lines {
        let heads: Vec<&str> = line.heads.iter().map(|head| head.title.as_str()).collect();
        page += &format!("{}\n", paint::strong(&heads.join(" · ")));
        for (column, cell) in line.cells.iter().enumerate() {
            let name = table.column(column).last().map_or("", |head| &head.title).to_lowercase();
            if let Shown::Text(text) = cell
                && !text.is_empty()
            {
                page += &format!("  {} {text}\n", paint::dim(&crate::ui::text::pad(&name, 9)));
            }
        }
    }
    for remark in std::iter::once(&table.note).chain(&table.remarks).filter(|r| !r.is_empty()) {
        page += &format!("{}\n", paint::dim(remark));
    }
    page
}

/// A table for the terminal: its title, its rows, and what is remarked on it.
pub(crate) fn terminal(table: &Prepared) -> String {
    let long = |cell: &Shown| matches!(cell, Shown::Text(text) if text.chars().count() > LONG);
    if table.lines.iter().flat_map(|line| &line.cells).any(long) {
        return listed(table);
    }
    let width = table.lines.first().map_or(0, |line| line.cells.len());
    let head = |column: usize| {
        let heads = table.column(column).into_iter().map(|head| head.title.as_str());
        heads.collect::<Vec<_>>().join(" · ")
    };
    let mut columns = table.corner.clone();
    let names = columns.len();
    columns.extend((0..width).map(head));
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for line in &table.lines {
        // A head that covers several lines is said once.
        let said = |head: &Head| if head.span == 0 { String::new() } else { head.title.clone() };
        let heads = line.heads.iter().take(names).map(|head| Cell::new(said(head)));
        rows.push(heads.chain(line.cells.iter().map(value)).collect());
        // Beneath the values, since beside them the lines would be longer than most terminals.
        let ps: Vec<Cell> = line.cells.iter().map(|cell| Cell::new(p_of(cell))).collect();
        if ps.iter().any(|cell| !cell.text.is_empty()) {
            rows.push(vec![Cell::default(); names].into_iter().chain(ps).collect());
        }
    }
    let mut page = format!("{}\n", paint::title(&table.title));
    page += &Table { columns, names, rows }.print(Form::Terminal);
    for remark in std::iter::once(&table.note).chain(&table.remarks).filter(|r| !r.is_empty()) {
        page += &format!("{}\n", paint::dim(remark));
    }
    page
}

fn value(cell: &Shown) -> Cell {
    let number = match cell {
        Shown::Number(number) => number,
        Shown::Text(text) => return Cell::new(text.clone()),
    };
    let digits = number.digits;
    let text = match (number.mean, number.sd) {
        (Some(mean), Some(sd)) => format!("{mean:.digits$} ± {sd:.digits$}"),
        (Some(mean), None) => format!("{mean:.digits$}"),
        _ => "–".to_owned(),
    };
    Cell { text, best: number.best }
}

/// The p of a cell's test, the corrected one where there is one; nothing where there is none.
fn p_of(cell: &Shown) -> String {
    let test = cell.number().and_then(|number| number.test.as_ref());
    match test.and_then(|test| test.corrected.or(test.p)) {
        Some(p) if p < 0.001 => "p < 0.001".to_owned(),
        // Halves up, as everywhere: the exact p of five pairs, 0.0625, reads 0.063.
        Some(p) => format!("p = {:.3}", (p * 1000.0).round() / 1000.0),
        None => String::new(),
    }
}
