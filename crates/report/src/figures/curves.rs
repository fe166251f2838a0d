//! Training curves: columns of the history over epochs, mean and range over seeds, a line for each
//! arm. Other lines of runs, such as the loss on a path between two of them, are drawn alike.

use std::collections::BTreeMap;

use super::figure::Figure;
use super::key::{Key, present};
use super::kind::{Kind, Names, Setting};
use super::look::Form;
use super::panel::{Axis, Layer, Mark, Panel, Series};
use super::scale::{Scale, short};
use super::scope::{Cell, Scope, joined, k_text, kept};
use super::sheet::{DOUBLE, SINGLE, Sample, Sheet};
use crate::ReportError;
use crate::book::{Book, Curve};
use crate::csv::{Csv, number};

/// Training curves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curves {
    /// One for each column, data set and number of votes.
    pub panels: Vec<CurvesPanel>,
    /// Below the axis.
    pub x_title: String,
    /// Beside the other; empty where the panels' titles say it.
    pub y_title: String,
    /// Whether the axis across is logarithmic.
    pub log_x: bool,
    /// Whether they are over epochs.
    pub is_history: bool,
}

/// One column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CurvesPanel {
    /// The column of the history.
    pub column: String,
    /// The data set.
    pub dataset: String,
    /// Votes per item; `None` for all.
    pub k: Option<u32>,
    /// Above the panel.
    pub title: String,
    /// The arms that have values.
    pub curves: Vec<CurveOf>,
}

/// An arm.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CurveOf {
    /// Which one.
    pub key: Key,
    /// The epochs that any seed has a value of.
    pub epochs: Vec<CurvePoint>,
}

/// An epoch, or a point of another line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CurvePoint {
    /// Where it stands; epochs count from 1.
    pub x: f64,
    /// The mean over seeds.
    pub mean: f64,
    /// The smallest value.
    pub low: f64,
    /// The largest.
    pub high: f64,
    /// How many seeds.
    pub n: usize,
}

impl Kind for Curves {
    const SETTINGS: &'static [Setting] = &[
        Setting::new("metrics", Names::HistoryColumn),
        Setting::plain("x_title"),
        Setting::plain("y_title"),
        Setting::plain("log_x"),
    ];

    fn prepare(scope: &Scope<'_>) -> Result<(Self, String), ReportError> {
        prepare(scope)
    }

    fn csv(&self) -> String {
        let place = if self.is_history { "epoch" } else { "x" };
        let header = ["column", "dataset", "k", "arm", place, "mean", "low", "high", "n"];
        let mut csv = Csv::new(&header);
        for panel in &self.panels {
            for curve in &panel.curves {
                for CurvePoint { x, mean, low, high, n } in &curve.epochs {
                    csv.row(&[
                        &panel.column,
                        &panel.dataset,
                        &k_text(panel.k),
                        &curve.key.name,
                        &number(*x),
                        &number(*mean),
                        &number(*low),
                        &number(*high),
                        &n.to_string(),
                    ]);
                }
            }
        }
        csv.finish()
    }

    fn svg(&self, figure: &Figure, form: Form) -> String {
        self.sheet(&figure.arms).svg(&figure.title, &figure.note, form)
    }
}

fn prepare(scope: &Scope<'_>) -> Result<(Curves, String), ReportError> {
    let spec = scope.spec;
    let mut columns: Vec<String> = Vec::new();
    // Lines that are no history are drawn where they are asked for.
    let shown = |curve: &&Curve| curve.x.is_empty() || spec.metrics.contains(&curve.column);
    for curve in scope.book.curves.iter().filter(shown) {
        if !columns.contains(&curve.column) {
            columns.push(curve.column.clone());
        }
    }
    if columns.is_empty() {
        columns.clone_from(&spec.metrics);
    }
    let columns =
        kept(&scope.place, "column of the history", &spec.metrics, &columns, |name| name)?;
    let fits = |curve: &&Curve| scope.keeps_run(&curve.of) && columns.contains(&curve.column);
    let found: Vec<&Curve> = scope.book.curves.iter().filter(fits).collect();
    let cells = scope.cells(found.iter().map(|c| (c.of.dataset.as_str(), c.of.k)));
    let mut panels = Vec::new();
    let mut uneven = false;
    // A row of panels for each column of the history, so that data sets stand beside each other.
    for column in &columns {
        for Cell { dataset, k, title } in &cells {
            let mut curves = Vec::new();
            for key in &scope.arms {
                let mut seeds: BTreeMap<u64, &Curve> = BTreeMap::new();
                for curve in found.iter().filter(|curve| curve.column == *column) {
                    let of = &curve.of;
                    if of.dataset == *dataset && of.k == *k && of.arm == key.name {
                        seeds.entry(of.seed).or_insert(curve);
                    }
                }
                let epochs = epochs(seeds.values().copied());
                uneven |= epochs.iter().any(|epoch| epoch.n < seeds.len());
                if !epochs.is_empty() {
                    curves.push(CurveOf { key: key.clone(), epochs });
                }
            }
            let title = match title.is_empty() || columns.len() > 1 {
                true => joined(&[title, &in_words(scope.book, column)]),
                false => title.clone(),
            };
            let (column, dataset, k) = (column.clone(), dataset.clone(), *k);
            panels.push(CurvesPanel { column, dataset, k, title, curves });
        }
    }
    let is_history = found.iter().all(|curve| curve.x.is_empty());
    let own = if is_history { "epoch" } else { "x" };
    let x_title = spec.x_title.clone().unwrap_or_else(|| own.to_owned());
    // One column need not be said above every panel.
    let alone = columns.first().filter(|_| columns.len() == 1 && cells.len() > 1);
    let y_title = spec.y_title.as_ref().or(alone).cloned().unwrap_or_default();
    let mut note = "Means over seeds; bands reach from the lowest to the highest.".to_owned();
    if uneven {
        note += " Each epoch averages the seeds that have a value for it.";
    }
    Ok((Curves { panels, x_title, y_title, log_x: spec.log_x, is_history }, note))
}

/// A column's name for people, where it is that of a metric, or of a metric on a part of the data.
fn in_words(book: &Book, column: &str) -> String {
    let titled =
        |name: &str| book.metrics.iter().find(|one| one.name == name).map(|one| &one.title);
    match (titled(column), column.split_once('.')) {
        (Some(title), _) => title.clone(),
        (None, Some((part, name))) => {
            titled(name).map_or(column.to_owned(), |title| format!("{title}, {part}"))
        }
        (None, None) if column == "loss" => "training loss".to_owned(),
        (None, None) => column.to_owned(),
    }
}

fn epochs<'a>(seeds: impl Iterator<Item = &'a Curve> + Clone) -> Vec<CurvePoint> {
    let longest = seeds.clone().map(|curve| curve.values.len()).max().unwrap_or(0);
    let point = |epoch: usize| {
        let values = seeds.clone().filter_map(|s| s.values.get(epoch).copied());
        let values = values.filter(|v| v.is_finite());
        let n = values.clone().count();
        let low = values.clone().fold(f64::INFINITY, f64::min);
        let high = values.clone().fold(f64::NEG_INFINITY, f64::max);
        let mean = values.map(|value| value / n as f64).sum();
        // Lines of one kind stand at the same places.
        let x = seeds.clone().find_map(|s| s.x.get(epoch).copied());
        let x = x.unwrap_or((epoch + 1) as f64);
        (n > 0).then_some(CurvePoint { x, mean, low, high, n })
    };
    (0..longest).filter_map(point).collect()
}

impl Curves {
    fn sheet(&self, arms: &[Key]) -> Sheet {
        let curves = self.panels.iter().flat_map(|p| &p.curves);
        let legend = present(arms, curves.map(|curve| &curve.key));
        let panels: Vec<Panel> = self.panels.iter().map(|panel| self.panel(panel)).collect();
        let width = if panels.len() == 1 { SINGLE } else { DOUBLE };
        Sheet { width, panels, legend, sample: Sample::Line, columns: 3, aspect: 0.75 }
    }

    fn panel(&self, panel: &CurvesPanel) -> Panel {
        let epochs = || panel.curves.iter().flat_map(|curve| &curve.epochs);
        let x = Scale::around(epochs().map(|e| e.x), self.log_x);
        let y = Scale::around(epochs().flat_map(|e| [e.low, e.high]), false);
        let count = panel.curves.len().max(1);
        let series = panel.curves.iter().enumerate().map(|(place, curve)| {
            let all = &curve.epochs;
            let band = all.iter().filter(|e| e.n > 1);
            let band: Vec<_> = band.map(|e| (e.x, e.low, e.high)).collect();
            let way = all.iter().map(|e| (e.x, e.mean)).collect();
            // A few markers tell lines apart without colour, and not at the same epochs.
            let step = all.len().div_ceil(6).max(1);
            let first = (step * place / count).min(all.len().saturating_sub(1));
            let mark = |e: &CurvePoint| {
                let seeds = if e.n == 1 { "1 seed".to_owned() } else { format!("{} seeds", e.n) };
                let place = if self.is_history { "epoch" } else { &self.x_title };
                let tip =
                    format!("{}, {place} {}: {} ({seeds})", curve.key.title, e.x, short(e.mean));
                Mark { x: e.x, y: e.mean, tip }
            };
            let marks = all.iter().skip(first).step_by(step).map(mark).collect();
            let mut layers = Vec::new();
            if band.len() > 1 {
                layers.push(Layer::Band(band));
            }
            layers.push(Layer::Line(way, curve.key.title.clone()));
            layers.push(Layer::Marks(marks, 2.2));
            Series { key: curve.key.clone(), dodge: 0.0, layers }
        });
        let series = series.collect();
        let x = Axis { whole: self.is_history, ..Axis::new(x, &self.x_title) };
        let y = Axis::new(y, &self.y_title);
        Panel { title: panel.title.clone(), x, y, guides: Vec::new(), series }
    }
}
