//! One result of runs against another, a mark for each run: do they go together?
//!
//! A panel for each metric that goes up, and all arms in it, whatever their number of votes, with
//! Spearman's correlation over the runs of each arm.

use std::collections::BTreeMap;

use dissensus_stats::correlation::{CorrelationSettings, spearman};

use super::figure::Drawn;
use super::key::Key;
use super::kind::{Kind, Names, Setting};
use super::panel::{Axis, Layer, Mark, Panel, Series};
use super::scale::{Scale, fixed};
use super::scope::{Scope, joined, k_text, votes};
use super::sheet::{Sample, Sheet};
use crate::ReportError;
use crate::csv::{Csv, number};
use crate::tables::Results;

pub(super) const KIND: Kind = Kind {
    name: "runs",
    template: r#"# One metric against others, a point per run.
[[figure]]
name = "runs"
title = "Curvature and the selected epoch"
kind = "runs"
arms = ["soft", "sls"]
x = "best_epoch"
metrics = ["lambda_max", "hessian_trace"]
"#,
    settings: &[
        Setting::new("x", Names::Metric),
        Setting::new("metrics", Names::Metric),
        Setting::new("slice", Names::Slice),
        Setting::plain("x_title"),
    ],
    prepare,
};

/// A run: its votes per item (`None` for all), its seed, and both results.
struct Run {
    k: Option<u32>,
    seed: u64,
    x: f64,
    y: f64,
}

/// A panel: its title, digits after the point, and the runs of each arm, those with few votes first.
type RunPanel<'a> = (String, usize, Vec<(&'a Key, Vec<Run>)>);

fn prepare(scope: &Scope<'_>) -> Result<Drawn, ReportError> {
    let spec = scope.spec;
    if spec.x.is_empty() {
        return Err(ReportError::FigureSetting { place: scope.place.clone(), key: "x" });
    }
    scope.metrics(std::slice::from_ref(&spec.x))?;
    let results = Results::of(scope.book)?;
    let slice = scope.slice();
    // What is known of all items alone, such as an epoch, holds for a slice of them too.
    let sliced = scope.results(&results, slice).any(|at| at.metric == spec.x);
    let across = if sliced { slice } else { "all" };
    let mut csv = Csv::new(&["metric", "slice", "dataset", "k", "arm", "seed", &spec.x, "value"]);
    let mut found: Vec<RunPanel<'_>> = Vec::new();
    for metric in scope.metrics(&spec.metrics)? {
        let (title, digits) = scope.titled(&metric);
        let cells = scope.result_cells(&results, std::slice::from_ref(&metric));
        for dataset in scope.datasets() {
            let mut arms = Vec::new();
            for key in &scope.arms {
                let mut runs = Vec::new();
                for cell in cells.iter().filter(|cell| cell.dataset == dataset) {
                    let y = scope.seeds(&results, &metric, slice, cell, key);
                    let y: BTreeMap<u64, f64> = y.into_iter().collect();
                    for (seed, x) in scope.seeds(&results, &spec.x, across, cell, key) {
                        let Some(&y) = y.get(&seed) else { continue };
                        let (k, seed_text) = (k_text(cell.k), seed.to_string());
                        let (across, up) = (number(x), number(y));
                        csv.row(&[
                            &metric, slice, dataset, &k, &key.name, &seed_text, &across, &up,
                        ]);
                        runs.push(Run { k: cell.k, seed, x, y });
                    }
                }
                if !runs.is_empty() {
                    arms.push((key, runs));
                }
            }
            found.push((joined(&[scope.dataset_title(dataset), &title]), digits, arms));
        }
    }
    let arms = || found.iter().flat_map(|(_, _, arms)| arms);
    let legend = scope.present(arms().map(|(key, _)| *key));
    let x = Scale::around(arms().flat_map(|(_, runs)| runs).map(|run| run.x), false);
    let x = Axis::new(x, &scope.column_title(spec.x_title.as_ref(), &spec.x));
    let x_digits = scope.titled(&spec.x).1;
    let panels = found.iter().map(|found| panel(found, x.clone(), x_digits)).collect();
    let sheet = Sheet { aspect: 0.8, ..Sheet::of(panels, legend, Sample::Marker) };
    Ok(Drawn::new(csv, sheet, note(&found)))
}

/// The correlations, arm by arm.
fn note(panels: &[RunPanel<'_>]) -> String {
    let mut said: Vec<(&Key, Vec<String>)> = Vec::new();
    for (title, _, arms) in panels {
        for (key, runs) in arms {
            let (x, y): (Vec<f64>, Vec<f64>) = runs.iter().map(|run| (run.x, run.y)).unzip();
            let correlation = spearman(&x, &y, &CorrelationSettings::default());
            let Some(r) = correlation.ok().and_then(|found| found.r) else { continue };
            let words = format!("{} ({title}, {} runs)", fixed(r, 2), runs.len());
            match said.iter_mut().find(|(known, _)| known == key) {
                Some((_, all)) => all.push(words),
                None => said.push((*key, vec![words])),
            }
        }
    }
    if said.is_empty() {
        return "A mark is a run.".to_owned();
    }
    let said = said.iter().map(|(key, all)| format!("{} {}", key.title, all.join(", ")));
    format!(
        "A mark is a run, with any number of votes. Spearman’s ρ over the runs of an arm: {}.",
        said.collect::<Vec<_>>().join("; ")
    )
}

fn panel((title, digits, arms): &RunPanel<'_>, x: Axis, x_digits: usize) -> Panel {
    let runs = || arms.iter().flat_map(|(_, runs)| runs);
    let several = runs().any(|run| runs().next().is_some_and(|first| first.k != run.k));
    let series = arms.iter().map(|(key, runs)| {
        let mark = |run: &Run| {
            let votes = if several { votes(run.k) } else { String::new() };
            let seed = format!("seed {}", run.seed);
            let of = joined(&[&key.title, &votes, &seed]).replace(" · ", ", ");
            let place = (fixed(run.x, x_digits), fixed(run.y, *digits));
            Mark { x: run.x, y: run.y, tip: format!("{of}: ({}, {})", place.0, place.1) }
        };
        Series::new(key, vec![Layer::Marks(runs.iter().map(mark).collect(), 2.2)])
    });
    let series = series.collect();
    let y = Axis::new(Scale::around(runs().map(|run| run.y), false), "");
    Panel::new(title.clone(), x, y, series)
}
