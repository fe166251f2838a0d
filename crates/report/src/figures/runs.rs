//! One result of runs against another, a mark for each run: do they go together?
//!
//! A panel for each metric that goes up, and all arms in it, whatever their number of votes, with
//! Spearman's correlation over the runs of each arm.

use std::collections::BTreeMap;

use dissensus_stats::correlation::{CorrelationSettings, spearman};

use super::figure::Figure;
use super::key::{Key, present};
use super::kind::{Kind, Names, Setting};
use super::look::Form;
use super::panel::{Axis, Layer, Mark, Panel, Series};
use super::points::{metrics, named, rows, rows_of, seeds, titled};
use super::scale::{Scale, fixed};
use super::scope::{Scope, joined, k_text, votes};
use super::sheet::{DOUBLE, SINGLE, Sample, Sheet};
use crate::ReportError;
use crate::csv::{Csv, number};

/// Runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Runs {
    /// One for each metric and data set.
    pub panels: Vec<RunsPanel>,
    /// The metric across.
    pub x: String,
    /// Below the axis.
    pub x_title: String,
    /// Digits of that metric after the point.
    pub x_digits: usize,
    /// Which items the metrics that go up are over.
    pub slice: String,
}

/// One metric against the one across.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunsPanel {
    /// The metric.
    pub metric: String,
    /// The data set.
    pub dataset: String,
    /// Above the panel.
    pub title: String,
    /// Digits after the point.
    pub digits: usize,
    /// One for each arm that has runs.
    pub arms: Vec<RunsArm>,
}

/// The runs of an arm.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunsArm {
    /// Which one.
    pub key: Key,
    /// The runs, those with few votes first.
    pub runs: Vec<Run>,
    /// Spearman's correlation over them; `None` where either does not vary.
    pub correlation: Option<f64>,
}

/// A run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Run {
    /// Votes per item; `None` for all.
    pub k: Option<u32>,
    /// Its seed.
    pub seed: u64,
    /// Across.
    pub x: f64,
    /// Up.
    pub y: f64,
}

impl Kind for Runs {
    const SETTINGS: &'static [Setting] = &[
        Setting::new("x", Names::Metric),
        Setting::new("metrics", Names::Metric),
        Setting::new("slice", Names::Slice),
        Setting::plain("x_title"),
    ];

    fn prepare(scope: &Scope<'_>) -> Result<(Self, String), ReportError> {
        prepare(scope)
    }

    fn csv(&self) -> String {
        let header = ["metric", "slice", "dataset", "k", "arm", "seed", &self.x, "value"];
        let mut csv = Csv::new(&header);
        for panel in &self.panels {
            for arm in &panel.arms {
                for run in &arm.runs {
                    let (k, seed) = (k_text(run.k), run.seed.to_string());
                    let (metric, dataset) = (&panel.metric, &panel.dataset);
                    let (x, y) = (number(run.x), number(run.y));
                    csv.row(&[metric, &self.slice, dataset, &k, &arm.key.name, &seed, &x, &y]);
                }
            }
        }
        csv.finish()
    }

    fn svg(&self, figure: &Figure, form: Form) -> String {
        self.sheet(&figure.arms).svg(&figure.title, &figure.note, form)
    }
}

fn prepare(scope: &Scope<'_>) -> Result<(Runs, String), ReportError> {
    let spec = scope.spec;
    if spec.x.is_empty() {
        return Err(ReportError::FigureSetting { place: scope.place.clone(), key: "x" });
    }
    named(scope, std::slice::from_ref(&spec.x))?;
    let up = rows(scope);
    // What is known of all items alone, such as an epoch, holds for a slice of them too.
    let sliced = up.iter().any(|row| row.metric == spec.x);
    let across = if sliced { up.clone() } else { rows_of(scope, "all") };
    let mut panels = Vec::new();
    for metric in metrics(scope)? {
        let (title, digits) = titled(scope, &metric);
        for dataset in scope.datasets() {
            let of = up.iter().filter(|row| row.metric == metric && row.dataset == dataset);
            let cells = scope.cells(of.map(|row| (row.dataset.as_str(), row.k)));
            let mut arms = Vec::new();
            for key in &scope.arms {
                let mut runs = Vec::new();
                for cell in &cells {
                    let x = seeds(&across, &spec.x, cell, &key.name)?;
                    let y: BTreeMap<u64, f64> =
                        seeds(&up, &metric, cell, &key.name)?.into_iter().collect();
                    let run = |(seed, x)| Some(Run { k: cell.k, seed, x, y: *y.get(&seed)? });
                    runs.extend(x.into_iter().filter_map(run));
                }
                if !runs.is_empty() {
                    arms.push(RunsArm::of(key, runs));
                }
            }
            let title = joined(&[scope.dataset_title(dataset), &title]);
            let (metric, dataset) = (metric.clone(), dataset.to_owned());
            panels.push(RunsPanel { metric, dataset, title, digits, arms });
        }
    }
    let note = note(&panels);
    let runs = Runs {
        panels,
        x: spec.x.clone(),
        x_title: scope.column_title(spec.x_title.as_ref(), &spec.x),
        x_digits: titled(scope, &spec.x).1,
        slice: spec.slice.clone().unwrap_or_else(|| "all".to_owned()),
    };
    Ok((runs, note))
}

impl RunsArm {
    fn of(key: &Key, runs: Vec<Run>) -> Self {
        let (x, y): (Vec<f64>, Vec<f64>) = runs.iter().map(|run| (run.x, run.y)).unzip();
        let found = spearman(&x, &y, &CorrelationSettings::default());
        Self { key: key.clone(), runs, correlation: found.ok().and_then(|found| found.r) }
    }
}

/// The correlations, arm by arm.
fn note(panels: &[RunsPanel]) -> String {
    let mut arms: Vec<(&Key, Vec<String>)> = Vec::new();
    for panel in panels {
        for arm in &panel.arms {
            let Some(r) = arm.correlation else { continue };
            let said = format!("{} ({}, {} runs)", fixed(r, 2), panel.title, arm.runs.len());
            match arms.iter_mut().find(|(key, _)| **key == arm.key) {
                Some((_, all)) => all.push(said),
                None => arms.push((&arm.key, vec![said])),
            }
        }
    }
    let said: Vec<String> =
        arms.into_iter().map(|(key, all)| format!("{} {}", key.title, all.join(", "))).collect();
    match said.is_empty() {
        true => "A mark is a run.".to_owned(),
        false => format!(
            "A mark is a run, with any number of votes. Spearman’s ρ over the runs of an arm: {}.",
            said.join("; ")
        ),
    }
}

impl Runs {
    fn all(&self) -> impl Iterator<Item = &RunsArm> + Clone {
        self.panels.iter().flat_map(|panel| &panel.arms)
    }

    fn sheet(&self, arms: &[Key]) -> Sheet {
        let legend = present(arms, self.all().map(|arm| &arm.key));
        let x = Scale::around(self.all().flat_map(|arm| &arm.runs).map(|run| run.x), false);
        let panels: Vec<Panel> = self.panels.iter().map(|panel| self.panel(panel, x)).collect();
        let width = if panels.len() == 1 { SINGLE } else { DOUBLE };
        Sheet { width, panels, legend, sample: Sample::Marker, columns: 3, aspect: 0.8 }
    }

    fn panel(&self, panel: &RunsPanel, x: Scale) -> Panel {
        let runs = || panel.arms.iter().flat_map(|arm| &arm.runs);
        let y = Scale::around(runs().map(|run| run.y), false);
        let several = runs().any(|run| runs().next().is_some_and(|first| first.k != run.k));
        let series = panel.arms.iter().map(|arm| {
            let mark = |run: &Run| {
                let votes = if several { votes(run.k) } else { String::new() };
                let seed = format!("seed {}", run.seed);
                let of = joined(&[&arm.key.title, &votes, &seed]).replace(" · ", ", ");
                let place = (fixed(run.x, self.x_digits), fixed(run.y, panel.digits));
                Mark { x: run.x, y: run.y, tip: format!("{of}: ({}, {})", place.0, place.1) }
            };
            let layers = vec![Layer::Marks(arm.runs.iter().map(mark).collect(), 2.2)];
            Series { key: arm.key.clone(), dodge: 0.0, layers }
        });
        let series = series.collect();
        let (x, y) = (Axis::new(x, &self.x_title), Axis::new(y, ""));
        Panel { title: panel.title.clone(), x, y, guides: Vec::new(), series }
    }
}
