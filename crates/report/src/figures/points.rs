//! Points with intervals: a panel for each metric, a group for each number of votes or data set, a
//! point for each arm with its interval, and a small dot for each seed.

use std::collections::BTreeMap;

use super::estimate::Estimate;
use super::figure::Figure;
use super::key::{Key, present};
use super::kind::{Kind, Names, Setting};
use super::look::Form;
use super::panel::{Axis, Guide, GuideKind, Layer, Mark, Panel, Series, TICKS};
use super::scale::{Scale, fixed};
use super::scope::{Cell, Scope, joined, k_text, votes};
use super::sheet::{DOUBLE, SINGLE, Sample, Sheet};
use crate::ReportError;
use crate::book::Row;
use crate::csv::{Csv, number};

/// About what the labels of an axis and the gap before the next panel take.
const LABELS: f64 = 36.0;

/// Points with intervals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Points {
    /// One for each metric.
    pub panels: Vec<PointsPanel>,
    /// Which items the numbers are over.
    pub slice: String,
    /// Whether groups differ in their number of votes.
    pub by_votes: bool,
    /// Below the groups.
    pub x_title: String,
    /// Beside the points; empty where the panels' titles say it.
    pub y_title: String,
}

/// One metric.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointsPanel {
    /// The metric's name.
    pub metric: String,
    /// Above the panel.
    pub title: String,
    /// Digits after the point.
    pub digits: usize,
    /// The groups, from left to right.
    pub groups: Vec<PointsGroup>,
}

/// One data set and number of votes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointsGroup {
    /// The data set.
    pub dataset: String,
    /// Below its groups; empty where there is one data set.
    pub dataset_title: String,
    /// Votes per item; `None` for all.
    pub k: Option<u32>,
    /// A point for each arm that has one.
    pub points: Vec<Point>,
}

/// An arm.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Which one.
    pub key: Key,
    /// Mean and interval over seeds.
    pub estimate: Estimate,
    /// Each seed's value.
    pub seeds: Vec<(u64, f64)>,
}

pub(super) const NOTE: &str = "Means with 95 % t intervals over seeds";

/// The metrics of a figure: those that its spec names, or all.
pub(super) fn metrics(scope: &Scope<'_>) -> Result<Vec<String>, ReportError> {
    named(scope, &scope.spec.metrics)
}

/// Metrics of these names, or all.
pub(super) fn named(scope: &Scope<'_>, names: &[String]) -> Result<Vec<String>, ReportError> {
    let mut known: Vec<&str> = scope.book.metrics.iter().map(|m| m.name.as_str()).collect();
    for row in &scope.book.rows {
        if !known.contains(&row.metric.as_str()) {
            known.push(&row.metric);
        }
    }
    // Of a book without any results nothing is asked.
    if known.is_empty() {
        return Ok(names.to_vec());
    }
    let all: Vec<String> = known.into_iter().map(str::to_owned).collect();
    super::scope::kept(&scope.place, "metric", names, &all, |name| name)
}

/// A metric's title with the way that is better, and its digits.
pub(super) fn titled(scope: &Scope<'_>, name: &str) -> (String, usize) {
    let Some(metric) = scope.metric(name) else { return (name.to_owned(), 4) };
    let title = if metric.title.is_empty() { &metric.name } else { &metric.title };
    let way = match metric.better.arrow() {
        "" => String::new(),
        arrow => format!("\u{a0}{arrow}"),
    };
    (format!("{title}{way}"), metric.digits.min(12))
}

/// The rows of a figure: its slice, arms, data sets and votes.
pub(super) fn rows<'a>(scope: &Scope<'a>) -> Vec<&'a Row> {
    rows_of(scope, scope.spec.slice.as_deref().unwrap_or("all"))
}

/// The same of another slice.
pub(super) fn rows_of<'a>(scope: &Scope<'a>, slice: &str) -> Vec<&'a Row> {
    let fits = |row: &&Row| row.slice == slice && scope.keeps(&row.dataset, &row.arm, row.k);
    scope.book.rows.iter().filter(fits).collect()
}

/// Every seed's value of an arm in a cell; two different values of one seed are an error.
pub(super) fn seeds(
    rows: &[&Row],
    metric: &str,
    cell: &Cell,
    arm: &str,
) -> Result<Vec<(u64, f64)>, ReportError> {
    let finite = |row: &Row| row.value.filter(|value| value.is_finite());
    let mut found: BTreeMap<u64, &Row> = BTreeMap::new();
    for row in rows {
        if row.metric != metric || row.arm != arm || row.k != cell.k || row.dataset != cell.dataset
        {
            continue;
        }
        let first = *found.entry(row.seed).or_insert(row);
        if finite(first) != finite(row) {
            let of = [&row.dataset, arm, &votes(row.k), metric, &row.slice].map(str::to_owned);
            return Err(ReportError::ResultTwice {
                of: of.join(", "),
                seed: row.seed,
                first: first.value,
                first_run: first.run.clone(),
                second: row.value,
                second_run: row.run.clone(),
            });
        }
    }
    Ok(found.into_iter().filter_map(|(seed, row)| Some((seed, finite(row)?))).collect())
}

impl Kind for Points {
    const SETTINGS: &'static [Setting] = &[
        Setting::new("metrics", Names::Metric),
        Setting::new("slice", Names::Slice),
        Setting::plain("x_title"),
        Setting::plain("y_title"),
    ];

    fn prepare(scope: &Scope<'_>) -> Result<(Self, String), ReportError> {
        prepare(scope)
    }

    fn csv(&self) -> String {
        let header =
            ["metric", "slice", "dataset", "k", "arm", "what", "seed", "value", "low", "high", "n"];
        let mut csv = Csv::new(&header);
        for panel in &self.panels {
            for group in &panel.groups {
                let k = k_text(group.k);
                for point in &group.points {
                    let of = [&panel.metric, &self.slice, &group.dataset, &k, &point.key.name];
                    let [metric, slice, dataset, k, arm] = of.map(String::as_str);
                    let Estimate { mean, low, high, n } = point.estimate;
                    let (mean, low, high) = (number(mean), number(low), number(high));
                    let n = n.to_string();
                    csv.row(&[metric, slice, dataset, k, arm, "mean", "", &mean, &low, &high, &n]);
                    for (seed, value) in &point.seeds {
                        let (seed, value) = (seed.to_string(), number(*value));
                        csv.row(&[
                            metric, slice, dataset, k, arm, "seed", &seed, &value, "", "", "",
                        ]);
                    }
                }
            }
        }
        csv.finish()
    }

    fn svg(&self, figure: &Figure, form: Form) -> String {
        self.sheet(&figure.arms).svg(&figure.title, &figure.note, form)
    }
}

fn prepare(scope: &Scope<'_>) -> Result<(Points, String), ReportError> {
    let metrics = metrics(scope)?;
    let mut rows = rows(scope);
    rows.retain(|row| metrics.contains(&row.metric));
    let cells = scope.cells(rows.iter().map(|row| (row.dataset.as_str(), row.k)));
    let several = cells.iter().any(|cell| cell.dataset != cells[0].dataset);
    let by_votes = cells.iter().any(|cell| cell.k != cells[0].k);
    let mut panels = Vec::new();
    for metric in metrics {
        let mut groups = Vec::new();
        for cell in &cells {
            let mut points = Vec::new();
            for key in &scope.arms {
                let seeds = seeds(&rows, &metric, cell, &key.name)?;
                if let Some(estimate) = Estimate::of(seeds.iter().map(|seed| seed.1)) {
                    points.push(Point { key: key.clone(), estimate, seeds });
                }
            }
            let title = if several { scope.dataset_title(&cell.dataset) } else { "" };
            let (dataset, dataset_title) = (cell.dataset.clone(), title.to_owned());
            groups.push(PointsGroup { dataset, dataset_title, k: cell.k, points });
        }
        let (title, digits) = titled(scope, &metric);
        panels.push(PointsPanel { metric, title, digits, groups });
    }
    let x_title = if by_votes { "votes per item in training" } else { "" };
    let points = Points {
        panels,
        slice: scope.spec.slice.clone().unwrap_or_else(|| "all".to_owned()),
        by_votes,
        x_title: scope.spec.x_title.clone().unwrap_or_else(|| x_title.to_owned()),
        y_title: scope.spec.y_title.clone().unwrap_or_default(),
    };
    let alone = points.all().any(|point| point.seeds.len() == 1);
    let alone = if alone { " One seed alone has no interval." } else { "" };
    Ok((points, format!("{NOTE}; small dots are seeds.{alone}")))
}

impl Points {
    fn all(&self) -> impl Iterator<Item = &Point> {
        self.panels.iter().flat_map(|p| &p.groups).flat_map(|g| &g.points)
    }

    fn sheet(&self, arms: &[Key]) -> Sheet {
        let points: Vec<&Point> = self.all().collect();
        let legend = present(arms, points.iter().map(|point| &point.key));
        let slots = self.panels.iter().map(|p| p.groups.len()).max().unwrap_or(1) * legend.len();
        let panels: Vec<Panel> = self.panels.iter().map(|p| self.panel(p, &legend)).collect();
        let small = panels.len() == 1 && slots <= 16;
        let mut columns = match slots {
            0..=12 => 4,
            13..=24 => 3,
            25..=40 => 2,
            _ => 1,
        };
        // Fewer beside each other where the names of the data sets would be cut.
        let cut = |columns: usize| {
            let wide = DOUBLE / columns as f64 - LABELS;
            let axes = panels.iter().map(|panel| &panel.x);
            axes.flat_map(|x| x.bands.iter().map(move |band| (x.scale, band))).any(
                |(scale, (from, to, name))| {
                    TICKS.width(name) + 3.0 > wide * (scale.at(*to) - scale.at(*from))
                },
            )
        };
        while columns > 2 && cut(columns) {
            columns -= 1;
        }
        let aspect = if columns == 1 { 0.35 } else { 0.72 };
        let width = if small { SINGLE } else { DOUBLE };
        Sheet { width, panels, legend, sample: Sample::Marker, columns, aspect }
    }

    /// Groups take a place each arm and one between them.
    fn panel(&self, panel: &PointsPanel, legend: &[Key]) -> Panel {
        let wide = legend.len() as f64 + 1.0;
        let scale = Scale::around(
            panel.groups.iter().flat_map(|g| &g.points).flat_map(|p| {
                p.estimate.reach().chain(p.seeds.iter().map(|seed| seed.1)).collect::<Vec<_>>()
            }),
            false,
        );
        let x = Scale::between(0.0, wide * panel.groups.len().max(1) as f64);
        let series = legend.iter().enumerate().map(|(slot, key)| {
            let (mut dots, mut bars, mut marks) = (Vec::new(), Vec::new(), Vec::new());
            for (place, group) in panel.groups.iter().enumerate() {
                let Some(point) = group.points.iter().find(|point| point.key == *key) else {
                    continue;
                };
                let x = place as f64 * wide + slot as f64 + 1.0;
                let many = point.seeds.len() > 1;
                let votes = if self.by_votes { votes(group.k) } else { String::new() };
                let named = joined(&[&key.title, &group.dataset_title, &votes]);
                let named = named.replace(" · ", ", ");
                for (seed, value) in point.seeds.iter().filter(|_| many) {
                    let tip = format!("{named}, seed {seed}: {}", fixed(*value, panel.digits));
                    dots.push(Mark { x: x - 0.3, y: *value, tip });
                }
                let estimate = point.estimate;
                if let (Some(low), Some(high)) = (estimate.low, estimate.high) {
                    bars.push((x, low, high));
                }
                let tip = format!("{named}: {}", estimate.words(panel.digits, "seed"));
                marks.push(Mark { x, y: estimate.mean, tip });
            }
            let layers =
                vec![Layer::Dots(dots, 1.1), Layer::Intervals(bars), Layer::Marks(marks, 2.7)];
            Series { key: key.clone(), dodge: 0.0, layers }
        });
        let series = series.collect();
        let guide = |place: usize| {
            let x = place as f64 * wide;
            let (from, to) = ((x, scale.from), (x, scale.to));
            let (one, other) = (&panel.groups[place - 1], &panel.groups[place]);
            let same = one.dataset == other.dataset || !self.by_votes;
            let kind = if same { GuideKind::Faint } else { GuideKind::Dashed };
            Guide { from, to, kind, word: String::new() }
        };
        let guides = (1..panel.groups.len()).map(guide).collect();
        let middle = |(place, group): (usize, &PointsGroup)| {
            let label = if self.by_votes { k_text(group.k) } else { String::new() };
            (place as f64 * wide + wide / 2.0, label)
        };
        let ticks = panel.groups.iter().enumerate().map(middle).collect();
        let mut bands: Vec<(f64, f64, String)> = Vec::new();
        for (place, group) in panel.groups.iter().enumerate() {
            let (from, to) = (place as f64 * wide, (place + 1) as f64 * wide);
            match bands.last_mut() {
                Some(last) if last.2 == group.dataset_title => last.1 = to,
                _ => bands.push((from, to, group.dataset_title.clone())),
            }
        }
        bands.retain(|band| !band.2.is_empty());
        let x = Axis { ticks: Some(ticks), grid: false, bands, ..Axis::new(x, &self.x_title) };
        let y = Axis::new(scale, &self.y_title);
        Panel { title: panel.title.clone(), x, y, guides, series }
    }
}
