//! From a study in a store to files: what `report`, `study run` and `demo` share.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;
use dissensus_report::book::Book;
use dissensus_report::figures::{self, Figure, Form as Drawn};
use dissensus_report::tables::{self, Table as Prepared, Tally};
use dissensus_report::{page, raster};
use dissensus_store::Store;
use dissensus_studies::{Plan, files};

use crate::commands::study::about;
use crate::ui::files::replace;
use crate::ui::table::STYLE;
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

/// A table for the terminal: its title, its lines, and what is remarked on it.
pub(crate) fn terminal(table: &Prepared) -> String {
    tables::terminal(table, &STYLE)
}
