//! Points with intervals: a panel for each metric, a group for each number of votes or data set, a
//! point for each arm with its interval, and a small dot for each seed.

use super::estimate::{Estimate, NOTE};
use super::figure::Drawn;
use super::key::Key;
use super::kind::{Kind, Names, Setting};
use super::panel::{Axis, Guide, GuideKind, Layer, Mark, Panel, Series, TICKS};
use super::scale::{Scale, fixed};
use super::scope::{Cell, Scope, joined, k_text, votes};
use super::sheet::{DOUBLE, SINGLE, Sample, Sheet};
use crate::ReportError;
use crate::csv::Csv;
use crate::tables::Results;

/// About what the labels of an axis and the gap before the next panel take.
const LABELS: f64 = 36.0;

pub(super) const KIND: Kind = Kind {
    name: "points",
    template: r#"# A point with its interval per arm, a small dot per seed, a panel per metric.
[[figure]]
name = "points"
title = "Every seed"
note = "Generated images."
kind = "points"
metrics = ["soft_nll", "accuracy"]
# slice = "all"
# A panel for each of several slices.
# slices = ["all"]
# datasets = ["blends"]
# arms = ["soft", "sls", "majority"]
# ks = ["all"]
# Axis labels. Default: the name of the metric or the column.
# x_title = "votes"
# y_title = "value"
"#,
    settings: &[
        Setting::new("metrics", Names::Metric),
        Setting::new("slice", Names::Slice),
        Setting::new("slices", Names::Slice),
        Setting::plain("x_title"),
        Setting::plain("y_title"),
    ],
    prepare,
};

/// An arm's mean and interval, and each seed's value.
struct Point<'a> {
    key: &'a Key,
    mean: Estimate,
    seeds: Vec<(u64, f64)>,
}

/// One data set and number of votes.
struct Group<'a> {
    cell: &'a Cell,
    /// Below its groups; empty where there is one data set.
    title: &'a str,
    points: Vec<Point<'a>>,
}

fn prepare(scope: &Scope<'_>) -> Result<Drawn, ReportError> {
    let results = Results::of(scope.book)?;
    let metrics = scope.metrics(&scope.spec.metrics)?;
    let slices: Vec<&str> = match scope.spec.slices.is_empty() {
        true => vec![scope.slice()],
        false => scope.spec.slices.iter().map(String::as_str).collect(),
    };
    let cells = scope.result_cells(&results, &metrics);
    let several = cells.iter().any(|cell| cell.dataset != cells[0].dataset);
    let mut csv = Csv::new(&[
        "metric", "slice", "dataset", "k", "arm", "what", "seed", "value", "low", "high", "n",
    ]);
    let mut found: Vec<(&str, &str, Vec<Group<'_>>)> = Vec::new();
    for (metric, slice) in metrics.iter().flat_map(|m| slices.iter().map(move |slice| (m, *slice)))
    {
        let mut groups = Vec::new();
        for cell in &cells {
            let mut points = Vec::new();
            for key in &scope.arms {
                let seeds = scope.seeds(&results, metric, slice, cell, key);
                let Some(mean) = Estimate::of(seeds.iter().map(|seed| seed.1)) else { continue };
                let k = k_text(cell.k);
                let of = [metric.as_str(), slice, &cell.dataset, &k, &key.name];
                let of = || of.map(str::to_owned).into_iter();
                let what = ["mean", ""].map(str::to_owned);
                csv.row_of(of().chain(what).chain(mean.fields()));
                for (seed, value) in &seeds {
                    let (seed, value) = (seed.to_string(), value.to_string());
                    let empty = ["", "", ""].map(str::to_owned);
                    csv.row_of(of().chain(["seed".to_owned(), seed, value]).chain(empty));
                }
                points.push(Point { key, mean, seeds });
            }
            let title = if several { scope.dataset_title(&cell.dataset) } else { "" };
            groups.push(Group { cell, title, points });
        }
        found.push((metric, if slices.len() > 1 { slice } else { "" }, groups));
    }
    let all = || found.iter().flat_map(|(_, _, groups)| groups).flat_map(|group| &group.points);
    let legend = scope.present(all().map(|point| point.key));
    let alone = all().any(|point| point.seeds.len() == 1);
    let alone = if alone { " One seed alone has no interval." } else { "" };
    let panels = found.iter().map(|(metric, slice, groups)| {
        let panel = panel(scope, metric, groups, &legend);
        let items = if *slice == "all" { "all items" } else { *slice };
        Panel { title: joined(&[&panel.title, items]), ..panel }
    });
    let slots = if metrics.is_empty() { 1 } else { cells.len() } * legend.len();
    let sheet = sheet(panels.collect(), legend.clone(), slots);
    Ok(Drawn::new(csv, sheet, format!("{NOTE}; small dots are seeds.{alone}")))
}

/// So many panels beside each other that their points have room.
fn sheet(panels: Vec<Panel>, legend: Vec<Key>, slots: usize) -> Sheet {
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
fn panel(scope: &Scope<'_>, metric: &str, groups: &[Group<'_>], legend: &[Key]) -> Panel {
    let spec = scope.spec;
    let (title, digits) = scope.titled(metric);
    let by_votes = groups.iter().any(|group| group.cell.k != groups[0].cell.k);
    let wide = legend.len() as f64 + 1.0;
    let reach = groups.iter().flat_map(|group| &group.points).flat_map(|point| {
        point.mean.reach().chain(point.seeds.iter().map(|seed| seed.1)).collect::<Vec<_>>()
    });
    let scale = Scale::around(reach, false);
    let series = legend.iter().enumerate().map(|(slot, key)| {
        let (mut dots, mut bars, mut marks) = (Vec::new(), Vec::new(), Vec::new());
        for (place, group) in groups.iter().enumerate() {
            let found = group.points.iter().find(|point| point.key == key);
            let Some(Point { mean, seeds, .. }) = found else { continue };
            let x = place as f64 * wide + slot as f64 + 1.0;
            let votes = if by_votes { votes(group.cell.k) } else { String::new() };
            let named = joined(&[&key.title, group.title, &votes]).replace(" · ", ", ");
            for (seed, value) in seeds.iter().filter(|_| seeds.len() > 1) {
                let tip = format!("{named}, seed {seed}: {}", fixed(*value, digits));
                dots.push(Mark { x: x - 0.3, y: *value, tip });
            }
            bars.extend(mean.interval().map(|(low, high)| (x, low, high)));
            let tip = format!("{named}: {}", mean.words(digits, "seed"));
            marks.push(Mark { x, y: mean.mean, tip });
        }
        let layers = vec![Layer::Dots(dots, 1.1), Layer::Intervals(bars), Layer::Marks(marks, 2.7)];
        Series::new(key, layers)
    });
    let series = series.collect();
    let guide = |place: usize| {
        let x = place as f64 * wide;
        let same = groups[place - 1].cell.dataset == groups[place].cell.dataset || !by_votes;
        let kind = if same { GuideKind::Faint } else { GuideKind::Dashed };
        Guide::new((x, scale.from), (x, scale.to), kind)
    };
    let middle = |(place, group): (usize, &Group<'_>)| {
        let label = if by_votes { k_text(group.cell.k) } else { String::new() };
        (place as f64 * wide + wide / 2.0, label)
    };
    let mut bands: Vec<(f64, f64, String)> = Vec::new();
    for (place, group) in groups.iter().enumerate() {
        let (from, to) = (place as f64 * wide, (place + 1) as f64 * wide);
        match bands.last_mut() {
            Some(last) if last.2 == group.title => last.1 = to,
            _ => bands.push((from, to, group.title.to_owned())),
        }
    }
    bands.retain(|band| !band.2.is_empty());
    let ticks = Some(groups.iter().enumerate().map(middle).collect());
    let own = if by_votes { "votes per item in training" } else { "" };
    let x = Scale::between(0.0, wide * groups.len().max(1) as f64);
    let x = Axis::new(x, spec.x_title.as_deref().unwrap_or(own));
    let x = Axis { ticks, grid: false, bands, ..x };
    let y = Axis::new(scale, spec.y_title.as_deref().unwrap_or_default());
    let guides = (1..groups.len()).map(guide).collect();
    Panel { guides, ..Panel::new(title, x, y, series) }
}
