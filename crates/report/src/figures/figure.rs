//! A figure: prepared data of one kind, and the ways to write it.

use super::key::Key;
use super::kind::Drawing;
use super::look::Form;
use super::scope::Scope;
use super::spec::FigureSpec;
use crate::ReportError;
use crate::book::Book;

/// A figure, ready to be drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its file name, and how it is referred to.
    pub name: String,
    /// Above it.
    pub title: String,
    /// Below it: the spec's words, and how its numbers are made.
    pub note: String,
    /// The arms that it may show, in the order of the legend.
    pub arms: Vec<Key>,
    /// Its data.
    pub drawing: Drawing,
}

/// Takes from a book what a figure shows.
///
/// A name that the book does not have is an error. What is not there yet, such as an arm whose runs
/// are missing, is left out; a panel without any data says so.
pub fn prepare(spec: &FigureSpec, book: &Book) -> Result<Figure, ReportError> {
    let scope = Scope::new(spec, book)?;
    let (drawing, made) = spec.kind.prepare(&scope)?;
    let note = [spec.note.as_str(), &made].map(str::trim);
    let note = note.into_iter().filter(|n| !n.is_empty()).collect::<Vec<_>>().join(" ");
    let (name, title) = (spec.name.clone(), spec.title.clone());
    Ok(Figure { name, title, note, arms: scope.arms, drawing })
}

impl Figure {
    /// The data as drawn: one row for each mark.
    pub fn csv(&self) -> String {
        self.drawing.csv()
    }

    /// The drawing.
    ///
    /// Every mark of an arm is in a group of class `arm` whose `data-arm` is the arm's name; an
    /// arm's entry of the legend is in groups of class `key`.
    pub fn svg(&self, form: Form) -> String {
        self.drawing.svg(self, form)
    }
}
