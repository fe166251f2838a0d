//! A line for each arm over the number of votes: mean and interval, a panel for each metric.

use super::estimate::Estimate;
use super::figure::Figure;
use super::key::{Key, present};
use super::kind::{Kind, Names, Setting};
use super::look::Form;
use super::panel::{Axis, Layer, Mark, Panel, Series};
use super::points::{self, NOTE};
use super::scale::Scale;
use super::scope::{Cell, Scope, joined, k_text, votes};
use super::sheet::{DOUBLE, SINGLE, Sample, Sheet};
use crate::ReportError;
use crate::csv::{Csv, number};

/// Lines over the number of votes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lines {
    /// One for each data set and metric.
    pub panels: Vec<LinesPanel>,
    /// Which items the numbers are over.
    pub slice: String,
    /// Below the axis.
    pub x_title: String,
    /// Beside the other; empty where the panels' titles say it.
    pub y_title: String,
    /// Whether the axis across is logarithmic.
    pub log_x: bool,
}

/// One metric of one data set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinesPanel {
    /// The metric's name.
    pub metric: String,
    /// The data set.
    pub dataset: String,
    /// Above the panel.
    pub title: String,
    /// Digits after the point.
    pub digits: usize,
    /// A line for each arm that has values.
    pub lines: Vec<Line>,
}

/// An arm.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Which one.
    pub key: Key,
    /// Votes per item (`None`: all, at the end) and the mean over seeds.
    pub points: Vec<(Option<u32>, Estimate)>,
}

impl Kind for Lines {
    const SETTINGS: &'static [Setting] = &[
        Setting::new("metrics", Names::Metric),
        Setting::new("slice", Names::Slice),
        Setting::plain("x_title"),
        Setting::plain("y_title"),
        Setting::plain("log_x"),
    ];

    fn prepare(scope: &Scope<'_>) -> Result<(Self, String), ReportError> {
        prepare(scope)
    }

    fn csv(&self) -> String {
        let header = ["metric", "slice", "dataset", "k", "arm", "mean", "low", "high", "n"];
        let mut csv = Csv::new(&header);
        for panel in &self.panels {
            for line in &panel.lines {
                for (k, Estimate { mean, low, high, n }) in &line.points {
                    csv.row(&[
                        &panel.metric,
                        &self.slice,
                        &panel.dataset,
                        &k_text(*k),
                        &line.key.name,
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

fn prepare(scope: &Scope<'_>) -> Result<(Lines, String), ReportError> {
    let metrics = points::metrics(scope)?;
    let mut rows = points::rows(scope);
    rows.retain(|row| metrics.contains(&row.metric));
    let cells = scope.cells(rows.iter().map(|row| (row.dataset.as_str(), row.k)));
    let mut datasets: Vec<&str> = cells.iter().map(|cell| cell.dataset.as_str()).collect();
    datasets.dedup();
    let several = datasets.len() > 1;
    let mut panels = Vec::new();
    for dataset in datasets {
        for metric in &metrics {
            let mut lines = Vec::new();
            for key in &scope.arms {
                let mut points = Vec::new();
                for cell in cells.iter().filter(|cell: &&Cell| cell.dataset == dataset) {
                    let seeds = points::seeds(&rows, metric, cell, &key.name)?;
                    let estimate = Estimate::of(seeds.iter().map(|seed| seed.1));
                    points.extend(estimate.map(|estimate| (cell.k, estimate)));
                }
                if !points.is_empty() {
                    lines.push(Line { key: key.clone(), points });
                }
            }
            let (title, digits) = points::titled(scope, metric);
            let named = if several { scope.dataset_title(dataset) } else { "" };
            let (metric, dataset) = (metric.clone(), dataset.to_owned());
            let title = joined(&[named, &title]);
            panels.push(LinesPanel { metric, dataset, title, digits, lines });
        }
    }
    let spec = scope.spec;
    let x_title = spec.x_title.clone();
    let lines = Lines {
        panels,
        slice: spec.slice.clone().unwrap_or_else(|| "all".to_owned()),
        x_title: x_title.unwrap_or_else(|| "votes per item in training".to_owned()),
        y_title: spec.y_title.clone().unwrap_or_default(),
        log_x: spec.log_x,
    };
    let estimates = || lines.panels.iter().flat_map(|p| &p.lines).flat_map(|l| &l.points);
    let alone =
        if estimates().any(|(_, e)| e.n == 1) { " A single seed has no interval." } else { "" };
    Ok((lines, format!("{NOTE}.{alone}")))
}

impl Lines {
    fn sheet(&self, arms: &[Key]) -> Sheet {
        let lines = self.panels.iter().flat_map(|p| &p.lines);
        let legend = present(arms, lines.map(|line| &line.key));
        let panels: Vec<Panel> = self.panels.iter().map(|p| self.panel(p, &legend)).collect();
        let width = if panels.len() == 1 { SINGLE } else { DOUBLE };
        Sheet { width, panels, legend, sample: Sample::Line, columns: 3, aspect: 0.75 }
    }

    fn panel(&self, panel: &LinesPanel, legend: &[Key]) -> Panel {
        let mut ks: Vec<Option<u32>> =
            panel.lines.iter().flat_map(|l| l.points.iter().map(|p| p.0)).collect();
        ks.sort_by_key(|k| k.map_or(u64::MAX, u64::from));
        ks.dedup();
        let place = places(&ks, self.log_x);
        let all: Vec<f64> = ks.iter().map(|k| place(*k)).collect();
        let scale = Scale::around(all.iter().copied(), self.log_x);
        let reach = panel.lines.iter().flat_map(|l| l.points.iter().flat_map(|p| p.1.reach()));
        let y = Scale::around(reach, false);
        let middle = (legend.len() as f64 - 1.0) / 2.0;
        let apart = 1.1f64.min(6.0 / legend.len().max(1) as f64);
        let series = panel.lines.iter().map(|line| {
            let slot = legend.iter().position(|key| *key == line.key).unwrap_or(0);
            let way = line.points.iter().map(|(k, e)| (place(*k), e.mean)).collect();
            let bars = line.points.iter();
            let bars = bars.filter_map(|(k, e)| Some((place(*k), e.low?, e.high?))).collect();
            let mark = |(k, e): &(Option<u32>, Estimate)| {
                let words = e.words(panel.digits, "seed");
                let tip = format!("{}, {}: {words}", line.key.title, votes(*k));
                Mark { x: place(*k), y: e.mean, tip }
            };
            let marks = line.points.iter().map(mark).collect();
            let layers = vec![
                Layer::Intervals(bars),
                Layer::Line(way, line.key.title.clone()),
                Layer::Marks(marks, 2.5),
            ];
            Series { key: line.key.clone(), dodge: (slot as f64 - middle) * apart, layers }
        });
        let series = series.collect();
        let ticks = ks.iter().map(|k| (place(*k), k_text(*k))).collect();
        let x = Axis { ticks: Some(ticks), ..Axis::new(scale, &self.x_title) };
        let y = Axis::new(y, &self.y_title);
        Panel { title: panel.title.clone(), x, y, guides: Vec::new(), series }
    }
}

/// Where numbers of votes stand; all votes a step behind the last number.
fn places(ks: &[Option<u32>], log: bool) -> impl Fn(Option<u32>) -> f64 + use<> {
    let known = move |k: Option<u32>| k.map(|k| f64::from(if log { k.max(1) } else { k }));
    let first = ks.iter().find_map(|k| known(*k)).unwrap_or(1.0);
    let last = ks.iter().rev().find_map(|k| known(*k)).unwrap_or(1.0);
    let end = if log {
        last * (last / first).powf(0.22).max(1.6)
    } else {
        last + (0.18 * (last - first)).max(1.0)
    };
    move |k| known(k).unwrap_or(end)
}
