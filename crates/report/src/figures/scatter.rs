//! One column of items against another, a panel for each arm, with Spearman's correlation.
//!
//! An item's values are means over seeds. The correlation is over all items; where there are many,
//! every n-th of them is drawn, in the order of their ids.

use std::collections::BTreeMap;

use dissensus_stats::correlation::{CorrelationSettings, spearman};

use super::estimate::mean;
use super::figure::{Drawn, Figure};
use super::key::Key;
use super::kind::{Kind, Names, Setting};
use super::panel::{Axis, Guide, GuideKind, Layer, Mark, Panel, Series};
use super::scale::{Scale, fixed, short, thousands};
use super::scope::{Cell, Scope, joined, k_text};
use super::sheet::{Sample, Sheet};
use crate::ReportError;
use crate::csv::{Csv, number};

/// Points of a panel, and of a figure: more only make the file large.
const POINTS: usize = 2_000;
const POINTS_IN_ALL: usize = 8_000;

pub(super) const KIND: Kind = Kind {
    name: "scatter",
    template: r#"# One column against another, a point per item.
[[figure]]
name = "scatter"
title = "Are models uncertain where annotators disagree?"
kind = "scatter"
ks = ["all"]
x = "annotator_entropy"
y = "prediction_entropy"
"#,
    settings: &[
        Setting::new("x", Names::ItemColumn),
        Setting::new("y", Names::ItemColumn),
        Setting::plain("x_title"),
        Setting::plain("y_title"),
    ],
    prepare,
};

/// An item: its id, x and y.
type Item = (String, f64, f64);

/// One arm on one data set.
#[derive(Default)]
struct Scatter {
    key: Key,
    cell: Cell,
    /// Those that are drawn.
    points: Vec<Item>,
    /// How many items there are.
    items: usize,
    /// Spearman's correlation over all of them; `None` where a column does not vary.
    correlation: Option<f64>,
}

fn prepare(scope: &Scope<'_>) -> Result<Drawn, ReportError> {
    let spec = scope.spec;
    scope.column("x", &spec.x)?;
    scope.column("y", &spec.y)?;
    let cells = scope.item_cells();
    let mut panels = Vec::new();
    // A row of panels for each arm, so that the same data stand below each other.
    for key in &scope.arms {
        for cell in &cells {
            let points = items(scope, cell, &key.name);
            let (x, y): (Vec<f64>, Vec<f64>) = points.iter().map(|(_, x, y)| (*x, *y)).unzip();
            let correlation = spearman(&x, &y, &CorrelationSettings::default());
            let correlation = correlation.ok().and_then(|found| found.r);
            let title = joined(&[&key.title, &cell.title]);
            let (key, cell, items) = (key.clone(), Cell { title, ..cell.clone() }, points.len());
            panels.push(Scatter { key, cell, points, items, correlation });
        }
    }
    if cells.len() > 1 && panels.iter().any(|panel| panel.items > 0) {
        panels.retain(|panel| panel.items > 0);
    }
    let room = POINTS.min(POINTS_IN_ALL / panels.len().max(1)).max(1);
    let mut note = "A dot is an item, mean over seeds; ρ is Spearman’s correlation.".to_owned();
    if panels.iter().any(|panel| panel.items > room) {
        note += " Every n-th item is drawn; ρ is over all.";
    }
    for panel in &mut panels {
        let step = panel.items.div_ceil(room).max(1);
        panel.points = std::mem::take(&mut panel.points).into_iter().step_by(step).collect();
    }
    let titles = [
        scope.column_title(spec.x_title.as_ref(), &spec.x),
        scope.column_title(spec.y_title.as_ref(), &spec.y),
    ];
    Ok(drawn(&panels, titles, None, note))
}

impl Figure {
    /// Two numbers of items that are to agree, on axes from 0 to `most` with the diagonal on which
    /// they do.
    pub fn agreement(
        name: &str,
        title: String,
        points: impl Iterator<Item = (f64, f64)>,
        titles: [&str; 2],
        most: f64,
    ) -> Self {
        let points: Vec<Item> = points.map(|(x, y)| (String::new(), x, y)).collect();
        let panel = Scatter { items: points.len(), points, ..Scatter::default() };
        let most = if most > 0.0 && most.is_finite() { most } else { 1.0 };
        drawn(&[panel], titles.map(str::to_owned), Some(most), String::new()).figure(name, title)
    }
}

fn drawn(all: &[Scatter], titles: [String; 2], diagonal: Option<f64>, note: String) -> Drawn {
    let mut csv = Csv::new(&["dataset", "k", "arm", "item", "x", "y"]);
    for Scatter { key, cell, points, .. } in all {
        for (id, x, y) in points {
            let (k, x, y) = (k_text(cell.k), number(*x), number(*y));
            csv.row(&[&cell.dataset, &k, &key.name, id, &x, &y]);
        }
    }
    // All panels have the same axes, so that they can be compared.
    let points = || all.iter().flat_map(|panel| &panel.points);
    let scales = match diagonal {
        Some(most) => [Scale::between(0.0, most); 2],
        None => [
            Scale::around(points().map(|point| point.1), false),
            Scale::around(points().map(|point| point.2), false),
        ],
    };
    let [x, y] = [0, 1].map(|at| Axis::new(scales[at], &titles[at]));
    let guide = diagonal.map(|most| Guide::new((0.0, 0.0), (most, most), GuideKind::Dashed));
    let panels = all.iter().map(|one| {
        let panel = panel(one, x.clone(), y.clone());
        Panel { guides: guide.iter().cloned().collect(), ..panel }
    });
    let sheet = Sheet::of(panels.collect(), Vec::new(), Sample::Marker);
    Drawn::new(csv, Sheet { columns: 4, aspect: 1.0, ..sheet }, note)
}

fn panel(of: &Scatter, x: Axis, y: Axis) -> Panel {
    let name = &of.cell.title;
    let mark = |(id, x, y): &Item| {
        let place = format!("({}, {})", short(*x), short(*y));
        let of = joined(&[name, id]).replace(" · ", ", ");
        let tip = if of.is_empty() { place } else { format!("{of}: {place}") };
        Mark { x: *x, y: *y, tip }
    };
    let marks = of.points.iter().map(mark).collect();
    let layers = vec![Layer::Dots(marks, if of.points.len() > 500 { 1.0 } else { 1.5 })];
    let title = match (of.items, of.correlation) {
        (0, _) => name.clone(),
        // A figure of one panel says it in its title.
        _ if name.is_empty() => String::new(),
        (_, Some(r)) => joined(&[name, &format!("ρ = {}", fixed(r, 3))]),
        (n, None) => joined(&[name, &format!("{} items", thousands(n))]),
    };
    Panel::new(title, x, y, vec![Series::new(&of.key, layers)])
}

/// Both columns of every item that has them, by id.
fn items(scope: &Scope<'_>, cell: &Cell, arm: &str) -> Vec<Item> {
    let mut seen: BTreeMap<&str, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for numbers in scope.items(cell, arm).into_values() {
        let columns = (numbers.column(&scope.spec.x), numbers.column(&scope.spec.y));
        let (Some(x), Some(y)) = columns else { continue };
        for ((id, x), y) in numbers.ids.iter().zip(x).zip(y) {
            // A seed that lacks one of the two says nothing of how they go together.
            if x.is_finite() && y.is_finite() {
                let (xs, ys) = seen.entry(id).or_default();
                xs.push(*x);
                ys.push(*y);
            }
        }
    }
    let item =
        |(id, (x, y)): (&str, (Vec<f64>, Vec<f64>))| Some((id.to_owned(), mean(x)?, mean(y)?));
    seen.into_iter().filter_map(item).collect()
}
