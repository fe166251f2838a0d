//! From a study in a store to files: what `report`, `study run` and `demo` share.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;
use dissensus_report::book::Book;
use dissensus_report::figures::{self, Figure, Form as Drawn};
use dissensus_report::tables::{self, Cell as Shown, Head, Table as Prepared, Tally};
use dissensus_report::{page, raster};
use dissensus_store::Store;
use dissensus_studies::{Plan, files};

use crate::commands::study::about;
use crate::ui::files::replace;
use crate::ui::table::{Cell, Form, Table};
use crate::ui::{self, paint};

/// Pixels of a PNG for each of the drawing's.
const SCALE: f32 = 3.0;

/// What was written.
pub(crate) struct Written {
    pub(crate) page: PathBuf,
    pub(crate) files: usize,
    /// Tables and figures that could not be made.
    pub(crate) problems: Vec<String>,
    /// Runs that failed, and those that are not done.
    failed: usize,
    missing: usize,
    /// Finished runs that stages have not looked into, by stage.
    unexamined: Vec<(String, usize)>,
}

impl Written {
    pub(crate) fn words(&self, out: &Path) -> String {
        let mut words = format!("wrote {} files into {}\n", self.files, out.display());
        for problem in &self.problems {
            words += &format!("{} {problem}\n", paint::bad("left out:"));
        }
        let open = [(self.failed, "failed"), (self.missing, "are not done")];
        let open = open.into_iter().filter(|(count, _)| *count > 0);
        let open: Vec<String> = open.map(|(count, how)| format!("{count} {how}")).collect();
        if !open.is_empty() {
            let (note, open) = (paint::warn("note:"), open.join(" and "));
            words += &format!("{note} of the study's runs, {open}\n");
        }
        if !self.unexamined.is_empty() {
            let one = |(stage, runs): &(String, usize)| format!("{stage} ({runs} runs)");
            let stages = self.unexamined.iter().map(one).collect::<Vec<_>>().join(", ");
            let note = paint::warn("note:");
            words += &format!(
                "{note} no numbers of {stages}: their models were not looked into where they were \
                 trained\n"
            );
        }
        words
    }
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

/// The tables of a book, and what is wrong with those that cannot be made.
pub(crate) fn tables_of(book: &Book) -> (Vec<Prepared>, Vec<String>) {
    let (mut prepared, mut problems) = (Vec::new(), Vec::new());
    for spec in &book.tables {
        match tables::prepare(spec, book) {
            Ok(table) => prepared.push(table),
            Err(error) => problems.push(error.to_string()),
        }
    }
    (prepared, problems)
}

/// Collects the results and writes the whole report.
pub(crate) fn write(plan: &Plan<'_>, store: &Store, out: &Path) -> anyhow::Result<Written> {
    let collected = plan.collect(store, &about())?;
    let book = plan.book(store)?;
    let (prepared, mut problems) = tables_of(&book);
    let mut drawn: Vec<Figure> = Vec::new();
    for spec in &book.figures {
        match figures::prepare(spec, &book) {
            Ok(figure) => drawn.push(figure),
            Err(error) => problems.push(error.to_string()),
        }
    }
    let mut folder = Folder { root: out, files: 0 };
    for table in &prepared {
        let name = &table.name;
        folder.write(&format!("tables/{name}.md"), tables::markdown(table).as_bytes())?;
        folder.write(&format!("tables/{name}.tex"), tables::latex(table).as_bytes())?;
        folder.write(&format!("tables/{name}.csv"), tables::csv(table).as_bytes())?;
    }
    for figure in &drawn {
        let (name, svg) = (&figure.name, figure.svg(Drawn::File));
        folder.write(&format!("figures/{name}.svg"), svg.as_bytes())?;
        folder.write(&format!("figures/{name}.png"), &raster::png(&svg, SCALE)?)?;
        folder.write(&format!("figures/{name}.pdf"), &raster::pdf(&svg)?)?;
        folder.write(&format!("figures/{name}.csv"), figure.csv().as_bytes())?;
    }
    let study = store.study(&plan.study().name)?;
    for name in [files::RESULTS_CSV, files::RESULTS_PARQUET, files::STUDY, files::ABOUT] {
        if let Some(bytes) = study.read(name)? {
            folder.write(name, &bytes)?;
        }
    }
    let tally = Tally::of(&prepared);
    let html = page::render(&book, &prepared, &drawn, tally.as_ref())?;
    folder.write("index.html", html.as_bytes())?;
    let (page, files) = (out.join("index.html"), folder.files);
    let (failed, missing) = (collected.failed.len(), collected.missing);
    let unexamined = collected.unexamined.into_iter().collect();
    Ok(Written { page, files, problems, failed, missing, unexamined })
}

/// The same, into this folder or one beside the store; says what was written, and where the page is.
pub(crate) fn write_and_say(
    plan: &Plan<'_>,
    store: &Store,
    out: Option<&Path>,
) -> anyhow::Result<Written> {
    let out = out.map_or_else(|| beside(store.path(), "-report"), Path::to_owned);
    let written = write(plan, store, &out)?;
    ui::err(&written.words(&out));
    ui::out(&format!("{}\n", written.page.display()))?;
    Ok(written)
}

struct Folder<'a> {
    root: &'a Path,
    files: usize,
}

impl Folder<'_> {
    fn write(&mut self, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
        let path = self.root.join(name);
        replace(&path, |out| out.write_all(bytes))
            .with_context(|| format!("writing {}", path.display()))?;
        self.files += 1;
        Ok(())
    }
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
