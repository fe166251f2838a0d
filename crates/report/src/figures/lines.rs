//! A line for each arm over the number of votes: mean and interval, a panel for each metric.

use super::estimate::{Estimate, NOTE};
use super::figure::Drawn;
use super::key::Key;
use super::kind::{Kind, Names, Setting};
use super::panel::{Axis, Panel, Series};
use super::scale::Scale;
use super::scope::{Scope, joined, k_text, votes};
use super::sheet::{Sample, Sheet};
use super::spec::FigureSpec;
use crate::ReportError;
use crate::csv::Csv;
use crate::tables::Results;

pub(super) const KIND: Kind = Kind {
    name: "lines",
    template: r#"# A line per arm over the number of votes.
[[figure]]
name = "lines"
title = "Few votes and all votes"
kind = "lines"
arms = ["soft", "sls"]
metrics = ["soft_nll"]
# log_x = true
"#,
    settings: &[
        Setting::new("metrics", Names::Metric),
        Setting::new("slice", Names::Slice),
        Setting::plain("x_title"),
        Setting::plain("y_title"),
        Setting::plain("log_x"),
    ],
    prepare,
};

/// An arm's means by votes per item (`None`: all, at the end).
type Line<'a> = (&'a Key, Vec<(Option<u32>, Estimate)>);

/// A panel's title, its digits after the point, and its lines.
type LinePanel<'a> = (String, usize, Vec<Line<'a>>);

fn prepare(scope: &Scope<'_>) -> Result<Drawn, ReportError> {
    let results = Results::of(scope.book)?;
    let (metrics, slice) = (scope.metrics(&scope.spec.metrics)?, scope.slice());
    let cells = scope.result_cells(&results, &metrics);
    let mut datasets: Vec<&str> = cells.iter().map(|cell| cell.dataset.as_str()).collect();
    datasets.dedup();
    let several = datasets.len() > 1;
    let mut csv = Csv::new(&["metric", "slice", "dataset", "k", "arm", "mean", "low", "high", "n"]);
    let mut found: Vec<LinePanel<'_>> = Vec::new();
    for dataset in datasets {
        for metric in &metrics {
            let mut lines = Vec::new();
            for key in &scope.arms {
                let mut points = Vec::new();
                for cell in cells.iter().filter(|cell| cell.dataset == dataset) {
                    let seeds = scope.seeds(&results, metric, slice, cell, key);
                    let Some(mean) = Estimate::of(seeds.iter().map(|seed| seed.1)) else {
                        continue;
                    };
                    let k = k_text(cell.k);
                    let of = [metric.as_str(), slice, dataset, &k, &key.name];
                    csv.row_of(of.map(str::to_owned).into_iter().chain(mean.fields()));
                    points.push((cell.k, mean));
                }
                if !points.is_empty() {
                    lines.push((key, points));
                }
            }
            let (title, digits) = scope.titled(metric);
            let named = if several { scope.dataset_title(dataset) } else { "" };
            found.push((joined(&[named, &title]), digits, lines));
        }
    }
    let all = || found.iter().flat_map(|(_, _, lines)| lines);
    let legend = scope.present(all().map(|(key, _)| *key));
    let alone = all().flat_map(|(_, points)| points).any(|(_, mean)| mean.n == 1);
    let alone = if alone { " A single seed has no interval." } else { "" };
    let panel = |(title, digits, lines): &LinePanel<'_>| Panel {
        title: title.clone(),
        ..panel(scope.spec, lines, *digits, &legend)
    };
    let panels = found.iter().map(panel).collect();
    Ok(Drawn::new(csv, Sheet::of(panels, legend, Sample::Line), format!("{NOTE}.{alone}")))
}

fn panel(spec: &FigureSpec, lines: &[Line<'_>], digits: usize, legend: &[Key]) -> Panel {
    let points = || lines.iter().flat_map(|(_, points)| points);
    let mut ks: Vec<Option<u32>> = points().map(|point| point.0).collect();
    ks.sort_by_key(|k| k.map_or(u64::MAX, u64::from));
    ks.dedup();
    let place = places(&ks, spec.log_x);
    let scale = Scale::around(ks.iter().map(|k| place(*k)), spec.log_x);
    let y = Scale::around(points().flat_map(|point| point.1.reach()), false);
    let series = lines.iter().map(|(key, points)| {
        let mean = |(k, mean): &(Option<u32>, Estimate)| {
            let words = mean.words(digits, "seed");
            (place(*k), *mean, format!("{}, {}: {words}", key.title, votes(*k)))
        };
        Series::of_means(key, legend, points.iter().map(mean).collect())
    });
    let series = series.collect();
    let ticks = ks.iter().map(|k| (place(*k), k_text(*k))).collect();
    let x_title = spec.x_title.as_deref().unwrap_or("votes per item in training");
    let x = Axis { ticks: Some(ticks), ..Axis::new(scale, x_title) };
    Panel::new("", x, Axis::new(y, spec.y_title.as_deref().unwrap_or_default()), series)
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
