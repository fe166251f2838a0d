//! From a study's results in a store to the files of a report.

use std::path::{Path, PathBuf};

use dissensus_io::{Existing, check_output_folder};
use dissensus_report::book::Book;
use dissensus_report::figures::{self, Figure, Form};
use dissensus_report::tables::{self, Table, Tally};
use dissensus_report::{page, raster};
use dissensus_store::Store;
use dissensus_studies::{Plan, StudyError, files};

use crate::{Error, environment};

/// Pixels of a PNG per unit of the drawing.
const SCALE: f32 = 3.0;

/// What a report consists of, and what is missing from it.
#[derive(Clone, Debug)]
pub struct WrittenReport {
    /// The page to open.
    pub page: PathBuf,
    /// How many files were written.
    pub files: usize,
    /// Tables and figures that could not be made.
    pub problems: Vec<String>,
    /// Whether the results are also in the store; not where nothing can be written there.
    pub stored: bool,
    /// Runs that failed.
    pub failed: usize,
    /// Runs that are not finished.
    pub missing: usize,
    /// Finished runs that a stage has no results of, by stage.
    pub unexamined: Vec<(String, usize)>,
    /// How many of these have no weights, so that there will be none.
    pub without_weights: Vec<(String, usize)>,
}

/// The tables of a book, and what is wrong with those that cannot be made.
pub fn all_tables(book: &Book) -> (Vec<Table>, Vec<String>) {
    let (mut prepared, mut problems) = (Vec::new(), Vec::new());
    for spec in &book.tables {
        match tables::prepare(spec, book) {
            Ok(table) => prepared.push(table),
            Err(error) => problems.push(error.to_string()),
        }
    }
    (prepared, problems)
}

/// Collects a study's results and writes the whole report: every table as Markdown, LaTeX and CSV,
/// every figure as SVG, PNG and PDF with its data, the results, and one self-contained page. A folder with
/// other files than a report of the same study is only written into by `force`.
pub fn write(
    plan: &Plan<'_>,
    store: &Store,
    out: &Path,
    force: bool,
) -> Result<WrittenReport, Error> {
    check_folder(out, &plan.study().name, force)?;
    let gathered = plan.gather(store)?;
    let results = plan.result_files(&gathered, &environment())?;
    let (failed, missing) = (gathered.collected.failed.len(), gathered.collected.missing);
    let unexamined = gathered.collected.unexamined.clone().into_iter().collect();
    let without_weights = gathered.collected.without_weights.clone().into_iter().collect();
    // Everything is read before anything is written: what vanishes meanwhile changes no file.
    let book = plan.book_of(gathered, &results.about)?;
    let stored = match results.write(&store.study(&plan.study().name)?) {
        Err(StudyError::Store(error)) if error.is_read_only() => false,
        written => written.map(|()| true)?,
    };
    let mut folder = Folder { root: out, files: 0 };
    // First of all what says whose folder this is: an interrupted report is written again without `force`.
    folder.write(files::ABOUT, format!("{:#}\n", results.about).as_bytes())?;
    for (name, bytes) in results.tables() {
        folder.write(name, bytes)?;
    }
    folder.write(files::STUDY, results.study.as_bytes())?;
    // The tables are large where there are many runs.
    drop(results);
    let (prepared, mut problems) = all_tables(&book);
    let mut drawn: Vec<Figure> = Vec::new();
    for spec in &book.figures {
        match figures::prepare(spec, &book) {
            Ok(figure) => drawn.push(figure),
            Err(error) => problems.push(error.to_string()),
        }
    }
    for table in &prepared {
        let name = &table.name;
        folder.write(&format!("tables/{name}.md"), tables::markdown(table).as_bytes())?;
        folder.write(&format!("tables/{name}.tex"), tables::latex(table).as_bytes())?;
        folder.write(&format!("tables/{name}.csv"), tables::csv(table).as_bytes())?;
    }
    for figure in &drawn {
        let (name, svg) = (&figure.name, figure.svg(Form::File));
        folder.write(&format!("figures/{name}.svg"), svg.as_bytes())?;
        folder.write(&format!("figures/{name}.png"), &raster::png(&svg, SCALE)?)?;
        folder.write(&format!("figures/{name}.pdf"), &raster::pdf(&svg)?)?;
        folder.write(&format!("figures/{name}.csv"), figure.csv().as_bytes())?;
    }
    let tally = Tally::of(&prepared);
    let html = page::render(&book, &prepared, &drawn, tally.as_ref())?;
    folder.write(PAGE, html.as_bytes())?;
    Ok(WrittenReport {
        page: out.join(PAGE),
        files: folder.files,
        problems,
        stored,
        failed,
        missing,
        unexamined,
        without_weights,
    })
}

/// Fails before long work if a report may not be written into this folder.
pub fn check_folder(out: &Path, study: &str, force: bool) -> Result<(), Error> {
    let of = format!("a report of the study {study}");
    let is_same = || {
        let about = std::fs::read(out.join(files::ABOUT)).ok();
        let about: Option<serde_json::Value> =
            about.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        about.is_some_and(|about| about["study"] == study)
    };
    Ok(check_output_folder(out, Existing::replaced_if(force), &of, is_same)?)
}

/// The page, which opens from disk.
const PAGE: &str = "index.html";

struct Folder<'a> {
    root: &'a Path,
    files: usize,
}

impl Folder<'_> {
    fn write(&mut self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        crate::files::write_bytes(&self.root.join(name), true, bytes)?;
        self.files += 1;
        Ok(())
    }
}
