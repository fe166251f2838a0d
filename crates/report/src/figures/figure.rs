//! A figure: what is drawn, and its data.

use super::images::Images;
use super::look::Form;
use super::maps::Maps;
use super::scope::Scope;
use super::sheet::Sheet;
use super::spec::FigureSpec;
use crate::ReportError;
use crate::book::Book;
use crate::csv::Csv;

/// A figure, ready to be drawn.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its file name, and how it is referred to.
    pub name: String,
    /// Above it.
    pub title: String,
    /// Below it: the spec's words, and how its numbers are made.
    pub note: String,
    csv: String,
    body: Body,
}

/// What is drawn between the title and the note.
#[derive(Clone, Debug)]
pub(super) enum Body {
    Panels(Sheet),
    Images(Images),
    Maps(Maps),
}

/// What a kind makes of a book: the data with one row for each mark, what is drawn, and words on how
/// the numbers are made.
pub(super) struct Drawn {
    pub(super) csv: Csv,
    pub(super) body: Body,
    pub(super) note: String,
}

impl Drawn {
    pub(super) fn new(csv: Csv, sheet: Sheet, note: impl Into<String>) -> Self {
        Self { csv, body: Body::Panels(sheet), note: note.into() }
    }

    /// As a figure that no book is needed for.
    pub(super) fn figure(self, name: &str, title: String) -> Figure {
        Figure {
            name: name.into(),
            title,
            note: self.note,
            csv: self.csv.finish(),
            body: self.body,
        }
    }
}

/// Takes from a book what a figure shows.
///
/// A name that the book does not have is an error. What is not there yet, such as an arm whose runs
/// are missing, is left out; a panel without any data says so.
pub fn prepare(spec: &FigureSpec, book: &Book) -> Result<Figure, ReportError> {
    let figure = (spec.kind.kind().prepare)(&Scope::new(spec, book)?)?;
    let figure = figure.figure(&spec.name, spec.title.clone());
    let note = [spec.note.as_str(), &figure.note].map(str::trim);
    let note = note.into_iter().filter(|n| !n.is_empty()).collect::<Vec<_>>().join(" ");
    Ok(Figure { note, ..figure })
}

impl Figure {
    /// The data as drawn: one row for each mark.
    pub fn csv(&self) -> &str {
        &self.csv
    }

    /// The drawing.
    ///
    /// Every mark of an arm is in a group of class `arm` whose `data-arm` is the arm's name; an
    /// arm's entry of the legend is in groups of class `key`.
    pub fn svg(&self, form: Form) -> String {
        self.draw(&self.title, &self.note, form)
    }

    /// The drawing for a page that has title and note as text around it.
    pub(crate) fn bare(&self) -> String {
        self.draw("", "", Form::Page)
    }

    fn draw(&self, title: &str, note: &str, form: Form) -> String {
        match &self.body {
            Body::Panels(sheet) => sheet.svg(title, note, form),
            Body::Images(images) => images.draw(title, note, form),
            Body::Maps(maps) => maps.draw(title, note, form),
        }
    }
}
