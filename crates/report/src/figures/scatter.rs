//! One column of items against another, a panel for each arm, with Spearman's correlation.
//!
//! An item's values are means over seeds. The correlation is over all items; where there are many,
//! every n-th of them is drawn, in the order of their ids.

use std::collections::BTreeMap;

use dissensus_stats::correlation::{CorrelationSettings, spearman};

use super::estimate::mean;
use super::figure::Figure;
use super::key::Key;
use super::kind::{Kind, Names, Setting};
use super::look::Form;
use super::panel::{Axis, Guide, GuideKind, Layer, Mark, Panel, Series};
use super::scale::{Scale, fixed, short, thousands};
use super::scope::{Cell, Scope, joined, k_text, values};
use super::sheet::{DOUBLE, SINGLE, Sample, Sheet};
use crate::ReportError;
use crate::csv::{Csv, number};

/// Points of a panel, and of a figure: more only make the file large.
const POINTS: usize = 2_000;
const POINTS_IN_ALL: usize = 8_000;

/// Scatters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scatter {
    /// One for each arm, data set and number of votes.
    pub panels: Vec<ScatterPanel>,
    /// Below the axis.
    pub x_title: String,
    /// Beside the other.
    pub y_title: String,
    /// Both axes from 0 to this, with the diagonal on which they agree.
    pub diagonal: Option<f64>,
}

/// One arm.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScatterPanel {
    /// Which one.
    pub key: Key,
    /// The data set.
    pub dataset: String,
    /// Votes per item; `None` for all.
    pub k: Option<u32>,
    /// Above the panel.
    pub title: String,
    /// Those items that are drawn: id, x, y.
    pub points: Vec<(String, f64, f64)>,
    /// How many items there are.
    pub items: usize,
    /// Spearman's correlation over all of them; `None` where a column does not vary.
    pub correlation: Option<f64>,
}

impl Kind for Scatter {
    const SETTINGS: &'static [Setting] = &[
        Setting::new("x", Names::ItemColumn),
        Setting::new("y", Names::ItemColumn),
        Setting::plain("x_title"),
        Setting::plain("y_title"),
    ];

    fn prepare(scope: &Scope<'_>) -> Result<(Self, String), ReportError> {
        prepare(scope)
    }

    fn csv(&self) -> String {
        let mut csv = Csv::new(&["dataset", "k", "arm", "item", "x", "y"]);
        for panel in &self.panels {
            for (id, x, y) in &panel.points {
                let (k, x, y) = (k_text(panel.k), number(*x), number(*y));
                csv.row(&[&panel.dataset, &k, &panel.key.name, id, &x, &y]);
            }
        }
        csv.finish()
    }

    fn svg(&self, figure: &Figure, form: Form) -> String {
        self.sheet().svg(&figure.title, &figure.note, form)
    }
}

fn prepare(scope: &Scope<'_>) -> Result<(Scatter, String), ReportError> {
    let spec = scope.spec;
    scope.column("x", &spec.x)?;
    scope.column("y", &spec.y)?;
    let cells = scope.item_cells();
    let mut panels = Vec::new();
    // A row of panels for each arm, so that the same data stand below each other.
    for key in &scope.arms {
        for Cell { dataset, k, title } in &cells {
            let cell = Cell { dataset: dataset.clone(), k: *k, title: title.clone() };
            let found = items(scope, &cell, &key.name);
            let (x, y): (Vec<f64>, Vec<f64>) = found.iter().map(|(_, x, y)| (*x, *y)).unzip();
            let settings = CorrelationSettings::default();
            let correlation = spearman(&x, &y, &settings).ok().and_then(|found| found.r);
            let title = joined(&[&key.title, title]);
            let (key, dataset, k, items) = (key.clone(), dataset.clone(), *k, found.len());
            let points = found;
            panels.push(ScatterPanel { key, dataset, k, title, points, items, correlation });
        }
    }
    if cells.len() > 1 && panels.iter().any(|panel| panel.items > 0) {
        panels.retain(|panel| panel.items > 0);
    }
    let room = POINTS.min(POINTS_IN_ALL / panels.len().max(1)).max(1);
    let mut thinned = false;
    for panel in &mut panels {
        let step = panel.items.div_ceil(room).max(1);
        thinned |= step > 1;
        panel.points = std::mem::take(&mut panel.points).into_iter().step_by(step).collect();
    }
    let scatter = Scatter {
        panels,
        x_title: scope.column_title(spec.x_title.as_ref(), &spec.x),
        y_title: scope.column_title(spec.y_title.as_ref(), &spec.y),
        diagonal: None,
    };
    let mut note = "A dot is an item, mean over seeds; ρ is Spearman’s correlation.".to_owned();
    if thinned {
        note += " Every n-th item is drawn; ρ is over all.";
    }
    Ok((scatter, note))
}

/// Both columns of every item that has them, by id.
fn items(scope: &Scope<'_>, cell: &Cell, arm: &str) -> Vec<(String, f64, f64)> {
    let mut seen: BTreeMap<&str, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for numbers in scope.items(cell, arm).into_values() {
        let columns = (values(numbers, &scope.spec.x), values(numbers, &scope.spec.y));
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

impl Scatter {
    fn sheet(&self) -> Sheet {
        let points = || self.panels.iter().flat_map(|panel| &panel.points);
        // All panels have the same axes, so that they can be compared.
        let (x, y) = match self.diagonal {
            Some(most) => {
                let most = if most > 0.0 && most.is_finite() { most } else { 1.0 };
                (Scale::between(0.0, most), Scale::between(0.0, most))
            }
            None => {
                let x = Scale::around(points().map(|point| point.1), false);
                (x, Scale::around(points().map(|point| point.2), false))
            }
        };
        let panels: Vec<Panel> = self.panels.iter().map(|p| self.panel(p, x, y)).collect();
        let width = if panels.len() == 1 { SINGLE } else { DOUBLE };
        Sheet { width, panels, legend: Vec::new(), sample: Sample::Marker, columns: 4, aspect: 1.0 }
    }

    fn panel(&self, panel: &ScatterPanel, x: Scale, y: Scale) -> Panel {
        let mark = |(id, x, y): &(String, f64, f64)| {
            let place = format!("({}, {})", short(*x), short(*y));
            let of = joined(&[&panel.title, id]).replace(" · ", ", ");
            let tip = if of.is_empty() { place } else { format!("{of}: {place}") };
            Mark { x: *x, y: *y, tip }
        };
        let marks = panel.points.iter().map(mark).collect();
        let layers = vec![Layer::Dots(marks, if panel.points.len() > 500 { 1.0 } else { 1.5 })];
        let series = vec![Series { key: panel.key.clone(), dodge: 0.0, layers }];
        let rho = panel.correlation.map(|r| format!("ρ = {}", fixed(r, 3)));
        let title = match (panel.items, rho) {
            (0, _) => panel.title.clone(),
            // A figure of one panel says it in its title.
            _ if panel.title.is_empty() => String::new(),
            (_, Some(rho)) => joined(&[&panel.title, &rho]),
            (n, None) => joined(&[&panel.title, &format!("{} items", thousands(n))]),
        };
        let guides = self.diagonal.map(|_| {
            let to = (x.to, y.to);
            Guide { from: (0.0, 0.0), to, kind: GuideKind::Dashed, word: String::new() }
        });
        let (x, y) = (Axis::new(x, &self.x_title), Axis::new(y, &self.y_title));
        Panel { title, x, y, guides: guides.into_iter().collect(), series }
    }
}
