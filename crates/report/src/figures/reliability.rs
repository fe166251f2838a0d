//! Reliability diagrams: what came against the confidence of the prediction, in bins (points,
//! larger for more items) and, where there is one, as a smooth curve. A perfectly calibrated
//! prediction lies on the diagonal.

use std::collections::BTreeMap;

use super::estimate::{Estimate, mean};
use super::figure::{Drawn, Figure};
use super::key::Key;
use super::kind::{Kind, Setting};
use super::panel::{Axis, Guide, GuideKind, Layer, Mark, Panel, Series};
use super::scale::{Scale, fixed, thousands};
use super::scope::{Cell, Scope, joined, k_text};
use super::sheet::{Sample, Sheet};
use crate::ReportError;
use crate::book::ReliabilityOf;
use crate::csv::{Csv, number};

pub(super) const KIND: Kind = Kind {
    name: "reliability",
    template: r#"# Confidence against the agreement of annotators.
[[figure]]
name = "reliability"
title = "Calibration"
kind = "reliability"
ks = ["all"]
# Smooth curves of all arms in one panel.
# smooth = true
"#,
    settings: &[Setting::plain("smooth"), Setting::plain("x_title"), Setting::plain("y_title")],
    prepare,
};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReliabilityCurve {
    /// The arm, or what else it is of.
    pub key: Key,
    /// The bins; over all seeds where there are several.
    pub bins: Vec<ReliabilityBin>,
    /// Each seed's bins, where there are several seeds: confidence and outcome.
    pub seeds: Vec<(u64, Vec<(f64, f64)>)>,
    /// A smooth curve, to be drawn instead of a line through the bins.
    pub smooth: Vec<(f64, f64)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReliabilityBin {
    /// Mean confidence.
    pub confidence: f64,
    /// Mean outcome, with an interval over seeds where there are several.
    pub outcome: Estimate,
    /// How many items, over all seeds.
    pub items: u64,
}

impl ReliabilityBin {
    /// A bin of one run.
    pub fn of_run(confidence: f64, outcome: f64, items: u64) -> Self {
        let outcome = Estimate { mean: outcome, low: None, high: None, n: 1 };
        Self { confidence, outcome, items }
    }
}

fn prepare(scope: &Scope<'_>) -> Result<Drawn, ReportError> {
    let of = |run: &&ReliabilityOf| scope.keeps_run(&run.of);
    let found: Vec<&ReliabilityOf> = scope.book.reliability.iter().filter(of).collect();
    let cells = scope.cells(found.iter().map(|run| (run.of.dataset.as_str(), run.of.k)));
    if scope.spec.smooth {
        return Ok(smooth(scope, &cells, &found));
    }
    let mut uneven = false;
    let mut panels = Vec::new();
    for cell in &cells {
        for key in &scope.arms {
            let mut seeds: BTreeMap<u64, &ReliabilityOf> = BTreeMap::new();
            for run in &found {
                let of = &run.of;
                if of.dataset == cell.dataset && of.k == cell.k && of.arm == key.name {
                    seeds.entry(of.seed).or_insert(run);
                }
            }
            let curve = curve(key, &seeds);
            uneven |= curve.bins.is_empty() && !curve.seeds.is_empty();
            let title = joined(&[&key.title, &cell.title]);
            panels.push((Cell { title, ..cell.clone() }, vec![curve]));
        }
    }
    // An arm without votes of its own would otherwise fill the figure with empty panels.
    let any = |curves: &[ReliabilityCurve]| curves.iter().any(|curve| !curve.is_empty());
    if cells.len() > 1 && panels.iter().any(|(_, curves)| any(curves)) {
        panels.retain(|(_, curves)| any(curves));
    }
    let mut note = "Bins over all seeds, larger for more items, with 95 % t intervals over seeds; \
                    small dots are seeds."
        .to_owned();
    if uneven {
        note += " Where seeds differ in their number of bins, only the seeds are drawn.";
    }
    let x_title = scope.spec.x_title.as_deref().unwrap_or("confidence");
    let y_title = scope.spec.y_title.as_deref().unwrap_or("agreement");
    Ok(drawn(&panels, [x_title, y_title], note))
}

/// Smooth curves of all arms in a panel: means over seeds, and from the lowest to the highest.
fn smooth(scope: &Scope<'_>, cells: &[Cell], found: &[&ReliabilityOf]) -> Drawn {
    let head = ["dataset", "k", "arm", "confidence", "outcome", "low", "high", "n"];
    let mut csv = Csv::new(&head);
    let (mut panels, mut seen) = (Vec::new(), Vec::new());
    for cell in cells {
        let mut series = Vec::new();
        for key in &scope.arms {
            let here = |run: &&&ReliabilityOf| {
                run.of.dataset == cell.dataset && run.of.k == cell.k && run.of.arm == key.name
            };
            let seeds: Vec<&ReliabilityOf> = found.iter().filter(here).copied().collect();
            let mut points: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
            for (x, y) in
                seeds.iter().flat_map(|run| &run.smooth).filter(|point| point.1.is_finite())
            {
                // Curves stand at the same places, which are not negative: their bits are in order.
                points.entry(x.to_bits()).or_default().push(*y);
            }
            let (mut band, mut way) = (Vec::new(), Vec::new());
            for (x, all) in points.into_iter().map(|(x, all)| (f64::from_bits(x), all)) {
                // Where only some runs have such confidences, their mean would jump.
                if all.len() < seeds.len() {
                    continue;
                }
                let low = all.iter().copied().fold(f64::INFINITY, f64::min);
                let high = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let Some(mean) = mean(all.iter().copied()) else { continue };
                let of = [cell.dataset.clone(), k_text(cell.k), key.name.clone()];
                let numbers = [x, mean, low, high].map(number);
                csv.row_of(of.into_iter().chain(numbers).chain([all.len().to_string()]));
                band.push((x, low, high));
                way.push((x, mean));
            }
            if way.is_empty() {
                continue;
            }
            seen.push(key.clone());
            let band = (seeds.len() > 1).then_some(Layer::Band(band));
            let line = Layer::Line(way, key.title.clone());
            series.push(Series::new(key, band.into_iter().chain([line]).collect()));
        }
        let unit = Scale::between(0.0, 1.0);
        let x = Axis::new(unit, scope.spec.x_title.as_deref().unwrap_or("confidence"));
        let y = Axis::new(unit, scope.spec.y_title.as_deref().unwrap_or("accuracy"));
        let guides = vec![Guide::new((0.0, 0.0), (1.0, 1.0), GuideKind::Dashed)];
        panels.push(Panel { guides, ..Panel::new(cell.title.clone(), x, y, series) });
    }
    let note = "Smoothed by a reflected Gaussian kernel at the bandwidth of the smooth ECE. Means over \
                seeds, at confidences that all of them have; bands reach from the lowest to the highest.";
    let sheet = Sheet::of(panels, scope.present(seen.iter()), Sample::Line);
    Drawn::new(csv, Sheet { aspect: 1.0, ..sheet }, note)
}

impl Figure {
    /// A reliability diagram with these curves.
    pub fn reliability(
        name: &str,
        title: String,
        curves: Vec<ReliabilityCurve>,
        titles: [&str; 2],
    ) -> Self {
        drawn(&[(Cell::default(), curves)], titles, String::new()).figure(name, title)
    }
}

fn drawn(all: &[(Cell, Vec<ReliabilityCurve>)], titles: [&str; 2], note: String) -> Drawn {
    let mut csv = Csv::new(&[
        "dataset",
        "k",
        "arm",
        "what",
        "seed",
        "confidence",
        "outcome",
        "low",
        "high",
        "items",
    ]);
    for (cell, curves) in all {
        for curve in curves {
            let k = k_text(cell.k);
            let of = [cell.dataset.as_str(), &k, &curve.key.name];
            let mut row = |rest: [&str; 7]| csv.row(&[&of[..], &rest[..]].concat());
            for ReliabilityBin { confidence, outcome, items } in &curve.bins {
                let (x, [y, low, high, _]) = (number(*confidence), outcome.fields());
                row(["bin", "", &x, &y, &low, &high, &items.to_string()]);
            }
            for (seed, bins) in &curve.seeds {
                for (x, y) in bins {
                    row(["seed", &seed.to_string(), &number(*x), &number(*y), "", "", ""]);
                }
            }
            for (x, y) in &curve.smooth {
                row(["smooth", "", &number(*x), &number(*y), "", "", ""]);
            }
        }
    }
    let unit = Scale::between(0.0, 1.0);
    let panel = |(cell, curves): &(Cell, Vec<ReliabilityCurve>)| {
        let [x, y] = titles.map(|title| Axis::new(unit, title));
        let bins = curves.iter().flat_map(|curve| &curve.bins);
        let most = bins.map(|bin| bin.items).max().unwrap_or(1).max(1) as f64;
        let series = curves.iter().map(|curve| curve.series(most)).collect();
        let guides = vec![Guide::new((0.0, 0.0), (1.0, 1.0), GuideKind::Dashed)];
        Panel { guides, ..Panel::new(cell.title.clone(), x, y, series) }
    };
    // A panel with one curve is named by its title.
    let shared = all.iter().filter(|(_, curves)| curves.len() > 1);
    let legend: Vec<Key> = shared.flat_map(|(_, all)| all.iter().map(|c| c.key.clone())).collect();
    let sheet = Sheet::of(all.iter().map(panel).collect(), legend, Sample::Line);
    Drawn::new(csv, Sheet { columns: 4, aspect: 1.0, ..sheet }, note)
}

/// Bins of the same place over all seeds; only where every seed has the same number of them.
fn curve(key: &Key, seeds: &BTreeMap<u64, &ReliabilityOf>) -> ReliabilityCurve {
    let fine = |bin: &&(f64, f64, u64)| bin.0.is_finite() && bin.1.is_finite() && bin.2 > 0;
    let count = seeds.values().next().map_or(0, |run| run.bins.len());
    let even = seeds.values().all(|run| run.bins.len() == count);
    let bins = (0..if even { count } else { 0 }).filter_map(|place| {
        let of_seeds: Vec<&(f64, f64, u64)> =
            seeds.values().filter_map(|run| run.bins.get(place)).filter(fine).collect();
        let items: u64 = of_seeds.iter().map(|bin| bin.2).sum();
        let share = |bin: &&(f64, f64, u64)| bin.0 * bin.2 as f64 / items as f64;
        let outcome = Estimate::of(of_seeds.iter().map(|bin| bin.1))?;
        Some(ReliabilityBin { confidence: of_seeds.iter().map(share).sum(), outcome, items })
    });
    let bins = bins.collect();
    let dots = seeds.iter().filter(|_| seeds.len() > 1).map(|(seed, run)| {
        (*seed, run.bins.iter().filter(fine).map(|bin| (bin.0, bin.1)).collect())
    });
    ReliabilityCurve { key: key.clone(), bins, seeds: dots.collect(), smooth: Vec::new() }
}

impl ReliabilityCurve {
    fn is_empty(&self) -> bool {
        self.bins.is_empty() && self.seeds.is_empty() && self.smooth.is_empty()
    }

    /// Markers are larger for more items; `most` is the number of items of the largest.
    fn series(&self, most: f64) -> Series {
        let (mut dots, mut bars, mut marks) = (Vec::new(), Vec::new(), Vec::new());
        let name = &self.key.title;
        for (seed, bins) in &self.seeds {
            for (x, y) in bins {
                let tip = format!("{name}, seed {seed}: {} → {}", fixed(*x, 3), fixed(*y, 3));
                dots.push(Mark { x: *x, y: *y, tip });
            }
        }
        for ReliabilityBin { confidence, outcome, items } in &self.bins {
            bars.extend(outcome.interval().map(|(low, high)| (*confidence, low, high)));
            let (x, y) = (fixed(*confidence, 3), outcome.words(3, "seed"));
            let tip = format!("{name}: {x} → {y}, {} items", thousands(*items as usize));
            let mark = Mark { x: *confidence, y: outcome.mean, tip };
            marks.push((mark, 1.4 + 1.8 * (*items as f64 / most).sqrt()));
        }
        let way = match self.smooth.is_empty() {
            true => self.bins.iter().map(|bin| (bin.confidence, bin.outcome.mean)).collect(),
            false => self.smooth.clone(),
        };
        let line = Layer::Line(way, name.clone());
        let layers =
            vec![Layer::Dots(dots, 1.0), Layer::Intervals(bars), line, Layer::Sized(marks)];
        Series::new(&self.key, layers)
    }
}
