//! A figure: prepared data of one kind, and the ways to write it.

use super::curves::Curves;
use super::effect::Effect;
use super::histogram::Histogram;
use super::key::Key;
use super::lines::Lines;
use super::look::Form;
use super::maps::Maps;
use super::pictures::Pictures;
use super::points::Points;
use super::reliability::Reliability;
use super::runs::Runs;
use super::scatter::Scatter;
use super::scope::Scope;
use super::spec::{FigureKind, FigureSpec};
use super::{curves, effect, histogram, lines, maps, pictures, points, reliability, runs, scatter};
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

/// The data of each kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Drawing {
    /// Points with intervals.
    Points(Points),
    /// Lines over the number of votes.
    Lines(Lines),
    /// Means in bins.
    Effect(Effect),
    /// Reliability diagrams.
    Reliability(Reliability),
    /// Histograms.
    Histogram(Histogram),
    /// Scatters.
    Scatter(Scatter),
    /// Runs, one result against another.
    Runs(Runs),
    /// Training curves.
    Curves(Curves),
    /// Items with bars.
    Pictures(Pictures),
    /// Items with maps.
    Maps(Maps),
}

/// Takes from a book what a figure shows.
///
/// A name that the book does not have is an error. What is not there yet, such as an arm whose runs
/// are missing, is left out; a panel without any data says so.
pub fn prepare(spec: &FigureSpec, book: &Book) -> Result<Figure, ReportError> {
    let scope = Scope::new(spec, book)?;
    let (drawing, made) = match spec.kind {
        FigureKind::Points => {
            points::prepare(&scope).map(|(d, note)| (Drawing::Points(d), note))?
        }
        FigureKind::Lines => lines::prepare(&scope).map(|(d, note)| (Drawing::Lines(d), note))?,
        FigureKind::Effect => {
            effect::prepare(&scope).map(|(d, note)| (Drawing::Effect(d), note))?
        }
        FigureKind::Reliability => {
            let (drawing, note) = reliability::prepare(&scope);
            (Drawing::Reliability(drawing), note)
        }
        FigureKind::Histogram => {
            histogram::prepare(&scope).map(|(d, note)| (Drawing::Histogram(d), note))?
        }
        FigureKind::Scatter => {
            scatter::prepare(&scope).map(|(d, note)| (Drawing::Scatter(d), note))?
        }
        FigureKind::Runs => runs::prepare(&scope).map(|(d, note)| (Drawing::Runs(d), note))?,
        FigureKind::Curves => {
            curves::prepare(&scope).map(|(d, note)| (Drawing::Curves(d), note))?
        }
        FigureKind::Pictures => {
            pictures::prepare(&scope).map(|(d, note)| (Drawing::Pictures(d), note))?
        }
        FigureKind::Maps => {
            let (drawing, note) = maps::prepare(&scope);
            (Drawing::Maps(drawing), note)
        }
    };
    let note = [spec.note.as_str(), &made].map(str::trim);
    let note = note.into_iter().filter(|n| !n.is_empty()).collect::<Vec<_>>().join(" ");
    let (name, title) = (spec.name.clone(), spec.title.clone());
    Ok(Figure { name, title, note, arms: scope.arms, drawing })
}

impl Figure {
    /// The data as drawn: one row for each mark.
    pub fn csv(&self) -> String {
        match &self.drawing {
            Drawing::Points(points) => points.csv(),
            Drawing::Lines(lines) => lines.csv(),
            Drawing::Effect(effect) => effect.csv(),
            Drawing::Reliability(reliability) => reliability.csv(),
            Drawing::Histogram(histogram) => histogram.csv(),
            Drawing::Scatter(scatter) => scatter.csv(),
            Drawing::Runs(runs) => runs.csv(),
            Drawing::Curves(curves) => curves.csv(),
            Drawing::Pictures(pictures) => pictures.csv(),
            Drawing::Maps(maps) => maps.csv(),
        }
    }

    /// The picture.
    ///
    /// Every mark of an arm is in a group of class `arm` whose `data-arm` is the arm's name; an
    /// arm's entry of the legend is in groups of class `key`.
    pub fn svg(&self, form: Form) -> String {
        let sheet = match &self.drawing {
            Drawing::Points(points) => points.sheet(&self.arms),
            Drawing::Lines(lines) => lines.sheet(&self.arms),
            Drawing::Effect(effect) => effect.sheet(&self.arms),
            Drawing::Reliability(reliability) => reliability.sheet(&self.arms),
            Drawing::Histogram(histogram) => histogram.sheet(&self.arms),
            Drawing::Scatter(scatter) => scatter.sheet(),
            Drawing::Runs(runs) => runs.sheet(&self.arms),
            Drawing::Curves(curves) => curves.sheet(&self.arms),
            Drawing::Pictures(pictures) => return pictures.svg(&self.title, &self.note, form),
            Drawing::Maps(maps) => return maps.svg(&self.title, &self.note, form),
        };
        sheet.svg(&self.title, &self.note, form)
    }
}
