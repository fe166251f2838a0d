//! Training curves: columns of the history over epochs, mean and range over seeds, a line for each
//! arm. Other lines of runs, such as the loss on a path between two of them, are drawn alike.

use std::collections::BTreeMap;

use super::figure::Drawn;
use super::key::Key;
use super::kind::{Kind, Names, Setting};
use super::panel::{Axis, Layer, Mark, Panel, Series};
use super::scale::{Scale, short};
use super::scope::{Cell, Scope, joined, k_text, kept};
use super::sheet::{Sample, Sheet};
use crate::ReportError;
use crate::book::{Book, Curve};
use crate::csv::{Csv, number};

pub(super) const KIND: Kind = Kind {
    name: "curves",
    template: r#"# Columns of the training history over epochs, or the path of a barrier.
[[figure]]
name = "curves"
title = "Training"
kind = "curves"
ks = ["all"]
metrics = ["loss", "evaluation.soft_nll"]
"#,
    settings: &[
        Setting::new("metrics", Names::HistoryColumn),
        Setting::plain("x_title"),
        Setting::plain("y_title"),
        Setting::plain("log_x"),
    ],
    prepare,
};

/// An epoch, or a point of another line: its place (epochs count from 1), and the mean, the
/// smallest and the largest of the values of so many seeds.
#[derive(Clone, Copy)]
struct Point {
    x: f64,
    mean: f64,
    low: f64,
    high: f64,
    n: usize,
}

fn prepare(scope: &Scope<'_>) -> Result<Drawn, ReportError> {
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
    let is_history = found.iter().all(|curve| curve.x.is_empty());
    let own = if is_history { "epoch" } else { "x" };
    let x_title = spec.x_title.as_deref().unwrap_or(own);
    // One column need not be said above every panel.
    let alone = columns.first().filter(|_| columns.len() == 1 && cells.len() > 1);
    let y_title = spec.y_title.as_ref().or(alone).cloned().unwrap_or_default();
    let mut csv = Csv::new(&["column", "dataset", "k", "arm", own, "mean", "low", "high", "n"]);
    let (mut panels, mut seen, mut uneven) = (Vec::new(), Vec::new(), false);
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
                let points = points(seeds.values().copied());
                uneven |= points.iter().any(|point| point.n < seeds.len());
                for Point { x, mean, low, high, n } in &points {
                    let (k, n) = (k_text(*k), n.to_string());
                    let [x, mean, low, high] = [x, mean, low, high].map(|value| number(*value));
                    csv.row(&[column, dataset, &k, &key.name, &x, &mean, &low, &high, &n]);
                }
                if !points.is_empty() {
                    seen.push(key);
                    curves.push((key, points));
                }
            }
            let title = match title.is_empty() || columns.len() > 1 {
                true => joined(&[title, &in_words(scope.book, column)]),
                false => title.clone(),
            };
            let all = || curves.iter().flat_map(|(_, points)| points);
            let x = Axis::new(Scale::around(all().map(|e| e.x), spec.log_x), x_title);
            let x = Axis { whole: is_history, ..x };
            let y = Scale::around(all().flat_map(|e| [e.low, e.high]), false);
            let place = if is_history { "epoch" } else { x_title };
            let count = curves.len();
            let series = curves.iter().enumerate();
            let series = series.map(|(at, (key, points))| line(key, points, place, (at, count)));
            panels.push(Panel::new(title, x, Axis::new(y, &y_title), series.collect()));
        }
    }
    let mut note = "Means over seeds; bands reach from the lowest to the highest.".to_owned();
    if uneven {
        note += " Each epoch averages the seeds that have a value for it.";
    }
    let legend = scope.present(seen.into_iter());
    Ok(Drawn::new(csv, Sheet::of(panels, legend, Sample::Line), note))
}

/// A line with its band, the line `at` of so many.
fn line(key: &Key, points: &[Point], place: &str, (at, count): (usize, usize)) -> Series {
    let band = points.iter().filter(|e| e.n > 1);
    let band: Vec<_> = band.map(|e| (e.x, e.low, e.high)).collect();
    let way = points.iter().map(|e| (e.x, e.mean)).collect();
    // A few markers tell lines apart without colour, and not at the same epochs.
    let step = points.len().div_ceil(6).max(1);
    let first = (step * at / count).min(points.len().saturating_sub(1));
    let mark = |e: &Point| {
        let seeds = if e.n == 1 { "1 seed".to_owned() } else { format!("{} seeds", e.n) };
        let tip = format!("{}, {place} {}: {} ({seeds})", key.title, e.x, short(e.mean));
        Mark { x: e.x, y: e.mean, tip }
    };
    let marks = points.iter().skip(first).step_by(step).map(mark).collect();
    let band = (band.len() > 1).then_some(Layer::Band(band));
    let rest = [Layer::Line(way, key.title.clone()), Layer::Marks(marks, 2.2)];
    Series::new(key, band.into_iter().chain(rest).collect())
}

/// A column's name for people, where it is that of a metric, or of a metric on a part of the data.
fn in_words(book: &Book, column: &str) -> String {
    let titled = |name: &str| book.metric(name).map(|one| &one.title);
    match (titled(column), column.split_once('.')) {
        (Some(title), _) => title.clone(),
        (None, Some((part, name))) => {
            titled(name).map_or(column.to_owned(), |title| format!("{title}, {part}"))
        }
        (None, None) if column == "loss" => "training loss".to_owned(),
        (None, None) => column.to_owned(),
    }
}

fn points<'a>(seeds: impl Iterator<Item = &'a Curve> + Clone) -> Vec<Point> {
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
        (n > 0).then_some(Point { x, mean, low, high, n })
    };
    (0..longest).filter_map(point).collect()
}
