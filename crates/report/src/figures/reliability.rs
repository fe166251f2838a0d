//! Reliability diagrams: what came against the confidence of the prediction, in bins (points,
//! larger for more items) and, where there is one, as a smooth curve. A perfectly calibrated
//! prediction lies on the diagonal.

use std::collections::BTreeMap;

use super::estimate::Estimate;
use super::figure::Figure;
use super::key::{Key, present};
use super::kind::{Kind, Setting};
use super::look::Form;
use super::panel::{Axis, Guide, GuideKind, Layer, Mark, Panel, Series};
use super::scale::{Scale, fixed, thousands};
use super::scope::{Cell, Scope, joined, k_text};
use super::sheet::{DOUBLE, SINGLE, Sample, Sheet};
use crate::ReportError;
use crate::book::ReliabilityOf;
use crate::csv::{Csv, number};

/// Reliability diagrams.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reliability {
    /// One for each arm, data set and number of votes.
    pub panels: Vec<ReliabilityPanel>,
    /// Below the axis.
    pub x_title: String,
    /// Beside the other.
    pub y_title: String,
}

/// One diagram.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReliabilityPanel {
    /// The data set.
    pub dataset: String,
    /// Votes per item; `None` for all.
    pub k: Option<u32>,
    /// Above the panel.
    pub title: String,
    /// The curves.
    pub curves: Vec<ReliabilityCurve>,
}

/// One curve.
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

/// A bin.
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

impl Kind for Reliability {
    const SETTINGS: &'static [Setting] = &[Setting::plain("x_title"), Setting::plain("y_title")];

    fn prepare(scope: &Scope<'_>) -> Result<(Self, String), ReportError> {
        Ok(prepare(scope))
    }

    fn csv(&self) -> String {
        let header = [
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
        ];
        let mut csv = Csv::new(&header);
        for panel in &self.panels {
            let k = k_text(panel.k);
            for curve in &panel.curves {
                let of = [panel.dataset.as_str(), &k, &curve.key.name];
                let mut row = |rest: [&str; 7]| csv.row(&[&of[..], &rest[..]].concat());
                for ReliabilityBin { confidence, outcome, items } in &curve.bins {
                    let (x, y) = (number(*confidence), number(outcome.mean));
                    let (low, high) = (number(outcome.low), number(outcome.high));
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
        csv.finish()
    }

    fn svg(&self, figure: &Figure, form: Form) -> String {
        self.sheet(&figure.arms).svg(&figure.title, &figure.note, form)
    }
}

fn prepare(scope: &Scope<'_>) -> (Reliability, String) {
    let of = |run: &&ReliabilityOf| scope.keeps_run(&run.of);
    let found: Vec<&ReliabilityOf> = scope.book.reliability.iter().filter(of).collect();
    let cells = scope.cells(found.iter().map(|run| (run.of.dataset.as_str(), run.of.k)));
    let mut uneven = false;
    let mut panels = Vec::new();
    for Cell { dataset, k, title } in &cells {
        for key in &scope.arms {
            let mut seeds: BTreeMap<u64, &ReliabilityOf> = BTreeMap::new();
            for run in &found {
                if run.of.dataset == *dataset && run.of.k == *k && run.of.arm == key.name {
                    seeds.entry(run.of.seed).or_insert(run);
                }
            }
            let curve = curve(key, &seeds);
            uneven |= curve.bins.is_empty() && !curve.seeds.is_empty();
            let title = joined(&[&key.title, title]);
            let (dataset, k) = (dataset.clone(), *k);
            panels.push(ReliabilityPanel { dataset, k, title, curves: vec![curve] });
        }
    }
    // An arm without votes of its own would otherwise fill the figure with empty panels.
    let any = panels.iter().any(|panel| panel.curves.iter().any(|c| !c.is_empty()));
    if any && cells.len() > 1 {
        panels.retain(|panel| panel.curves.iter().any(|c| !c.is_empty()));
    }
    let spec = scope.spec;
    let title =
        |given: &Option<String>, word: &str| given.clone().unwrap_or_else(|| word.to_owned());
    let reliability = Reliability {
        panels,
        x_title: title(&spec.x_title, "confidence"),
        y_title: title(&spec.y_title, "agreement"),
    };
    let mut note = "Bins over all seeds, larger for more items, with 95 % t intervals over seeds; \
                    small dots are seeds."
        .to_owned();
    if uneven {
        note += " Where seeds differ in their number of bins, only the seeds are drawn.";
    }
    (reliability, note)
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
}

impl Reliability {
    fn sheet(&self, arms: &[Key]) -> Sheet {
        let panels: Vec<Panel> = self.panels.iter().map(|panel| self.panel(panel)).collect();
        // A panel with one curve is named by its title.
        let shared = self.panels.iter().filter(|panel| panel.curves.len() > 1);
        let legend = present(arms, shared.flat_map(|p| p.curves.iter().map(|curve| &curve.key)));
        let width = if panels.len() == 1 { SINGLE } else { DOUBLE };
        Sheet { width, panels, legend, sample: Sample::Line, columns: 4, aspect: 1.0 }
    }

    fn panel(&self, panel: &ReliabilityPanel) -> Panel {
        let bins = panel.curves.iter().flat_map(|curve| &curve.bins);
        let most = bins.map(|bin| bin.items).max().unwrap_or(1).max(1) as f64;
        let series = panel.curves.iter().map(|curve| {
            let (mut dots, mut bars, mut marks) = (Vec::new(), Vec::new(), Vec::new());
            let name = &curve.key.title;
            for (seed, bins) in &curve.seeds {
                for (x, y) in bins {
                    let tip = format!("{name}, seed {seed}: {} → {}", fixed(*x, 3), fixed(*y, 3));
                    dots.push(Mark { x: *x, y: *y, tip });
                }
            }
            for ReliabilityBin { confidence, outcome, items } in &curve.bins {
                if let (Some(low), Some(high)) = (outcome.low, outcome.high) {
                    bars.push((*confidence, low, high));
                }
                let (x, y) = (fixed(*confidence, 3), outcome.words(3, "seed"));
                let tip = format!("{name}: {x} → {y}, {} items", thousands(*items as usize));
                let mark = Mark { x: *confidence, y: outcome.mean, tip };
                marks.push((mark, 1.4 + 1.8 * (*items as f64 / most).sqrt()));
            }
            let way = match curve.smooth.is_empty() {
                true => curve.bins.iter().map(|bin| (bin.confidence, bin.outcome.mean)).collect(),
                false => curve.smooth.clone(),
            };
            let layers = vec![
                Layer::Dots(dots, 1.0),
                Layer::Intervals(bars),
                Layer::Line(way, name.clone()),
                Layer::Sized(marks),
            ];
            Series { key: curve.key.clone(), dodge: 0.0, layers }
        });
        let series = series.collect();
        let (from, to) = ((0.0, 0.0), (1.0, 1.0));
        let guides = vec![Guide { from, to, kind: GuideKind::Dashed, word: String::new() }];
        let unit = Scale::between(0.0, 1.0);
        let (x, y) = (Axis::new(unit, &self.x_title), Axis::new(unit, &self.y_title));
        Panel { title: panel.title.clone(), x, y, guides, series }
    }
}
