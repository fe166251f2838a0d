//! Histograms: the share of values in bins of equal width, one outline for each arm; bars where
//! there is only one, and for people, behind the arms.

use super::figure::Figure;
use super::key::{Key, present};
use super::kind::{Kind, Names, Setting};
use super::look::Form;
use super::panel::{Axis, Guide, GuideKind, Layer, Panel, Series};
use super::scale::{Scale, short, thousands};
use super::scope::{Cell, Scope, k_text, values};
use super::sheet::{DOUBLE, SINGLE, Sample, Sheet};
use crate::ReportError;
use crate::csv::{Csv, number};

/// Bins where the spec does not say how many.
const BINS: usize = 20;

/// Histograms.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// One for each data set and number of votes.
    pub panels: Vec<HistogramPanel>,
    /// Below the axis.
    pub x_title: String,
    /// Beside the other.
    pub y_title: String,
    /// Whether counts are drawn, and not shares.
    pub counts: bool,
}

/// One data set and number of votes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistogramPanel {
    /// The data set.
    pub dataset: String,
    /// Votes per item; `None` for all.
    pub k: Option<u32>,
    /// Above the panel.
    pub title: String,
    /// The first bin's lower edge.
    pub from: f64,
    /// The last bin's upper edge.
    pub to: f64,
    /// The arms that have values.
    pub series: Vec<HistogramSeries>,
    /// A value to mark, with its name.
    pub mark: Option<(f64, String)>,
}

/// An arm.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistogramSeries {
    /// Which one.
    pub key: Key,
    /// How many values fell into each bin, over all seeds.
    pub counts: Vec<usize>,
}

impl Kind for Histogram {
    const SETTINGS: &'static [Setting] = &[
        Setting::new("x", Names::ItemColumn),
        Setting::new("people", Names::ItemColumn),
        Setting::plain("count"),
        Setting::plain("x_title"),
        Setting::plain("y_title"),
    ];

    fn prepare(scope: &Scope<'_>) -> Result<(Self, String), ReportError> {
        prepare(scope)
    }

    fn csv(&self) -> String {
        let header = ["dataset", "k", "arm", "bin", "from", "to", "count", "share"];
        let mut csv = Csv::new(&header);
        for panel in &self.panels {
            for series in &panel.series {
                let all = series.counts.iter().sum::<usize>().max(1) as f64;
                for (i, count) in series.counts.iter().enumerate() {
                    csv.row(&[
                        &panel.dataset,
                        &k_text(panel.k),
                        &series.key.name,
                        &(i + 1).to_string(),
                        &number(panel.edge(i, series.counts.len())),
                        &number(panel.edge(i + 1, series.counts.len())),
                        &count.to_string(),
                        &number(*count as f64 / all),
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

fn prepare(scope: &Scope<'_>) -> Result<(Histogram, String), ReportError> {
    let spec = scope.spec;
    scope.column("x", &spec.x)?;
    if let Some(people) = &spec.people {
        scope.column("people", people)?;
    }
    let bins = spec.count.unwrap_or(BINS).clamp(1, 1000);
    let mut seeds = 0;
    let mut panels = Vec::new();
    for cell in scope.item_cells() {
        let mut found: Vec<(Key, Vec<f64>)> = Vec::new();
        for key in &scope.arms {
            let runs = scope.items(&cell, &key.name);
            seeds = seeds.max(runs.len());
            let of = |column: &str| -> Vec<f64> {
                let columns = runs.values().filter_map(|numbers| values(numbers, column));
                columns.flatten().copied().filter(|x| x.is_finite()).collect()
            };
            // All arms are judged on the same items: what people do is said by the first.
            if let (Some(people), true) = (&spec.people, found.is_empty()) {
                found.push((of_people(), of(people)));
            }
            found.push((key.clone(), of(&spec.x)));
            found.retain(|(_, all)| !all.is_empty());
        }
        let (from, to) = edges(found.iter().flat_map(|(_, all)| all.iter().copied()));
        let series = found
            .into_iter()
            .map(|(key, all)| HistogramSeries { key, counts: count(&all, from, to, bins) });
        let series = series.collect();
        let Cell { dataset, k, title } = cell;
        panels.push(HistogramPanel { dataset, k, title, from, to, series, mark: None });
    }
    let x_title = scope.column_title(spec.x_title.as_ref(), &spec.x);
    let y_title = spec.y_title.clone().unwrap_or_else(|| "share of items".to_owned());
    let note = if seeds > 1 { "Items of all seeds together." } else { "" };
    Ok((Histogram { panels, x_title, y_title, counts: false }, note.to_owned()))
}

/// People among the arms: grey, which no arm of a small study is.
fn of_people() -> Key {
    Key { name: "people".to_owned(), title: "people".to_owned(), look: 10 }
}

/// The smallest and the largest value; a little apart where they are the same.
fn edges(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    match (low < high, low.is_finite()) {
        (true, _) => (low, high),
        (false, true) => (low - 0.5, low + 0.5),
        (false, false) => (0.0, 1.0),
    }
}

fn count(values: &[f64], from: f64, to: f64, bins: usize) -> Vec<usize> {
    let mut counts = vec![0; bins];
    for value in values {
        // The last edge belongs to the last bin; a cast of a negative number is 0.
        let bin = ((value - from) / (to - from) * bins as f64) as usize;
        counts[bin.min(bins - 1)] += 1;
    }
    counts
}

impl Histogram {
    fn sheet(&self, arms: &[Key]) -> Sheet {
        let panels: Vec<Panel> = self.panels.iter().map(|panel| self.panel(panel)).collect();
        let series = self.panels.iter().flat_map(|p| &p.series);
        let people = [of_people()];
        let known: Vec<Key> = people.iter().chain(arms).cloned().collect();
        let legend = present(&known, series.map(|series| &series.key));
        let (width, aspect) = match (panels.len(), self.counts) {
            (1, true) => (DOUBLE, 0.5),
            (1, false) => (SINGLE, 0.75),
            _ => (DOUBLE, 0.75),
        };
        let sample = if legend.len() > 1 { Sample::Bare } else { Sample::Marker };
        Sheet { width, panels, legend, sample, columns: 3, aspect }
    }

    fn panel(&self, panel: &HistogramPanel) -> Panel {
        let one = panel.series.len() == 1;
        let heights: Vec<Vec<f64>> =
            panel.series.iter().map(|series| self.heights(&series.counts)).collect();
        let most = heights.iter().flatten().copied().fold(0.0, f64::max);
        // Words above the bars, and a mark's word above those, need room.
        let room = match (self.counts, &panel.mark) {
            (true, Some(_)) => 1.16,
            (true, None) => 1.1,
            _ => 1.06,
        };
        let y = Scale::between(0.0, if most > 0.0 { most * room } else { 1.0 });
        let series = panel.series.iter().zip(heights).map(|(series, heights)| {
            let bins = heights.len();
            let name = &series.key.title;
            let layer = if one || series.key == of_people() {
                let bar = |(i, height): (usize, &f64)| {
                    let (from, to) = (panel.edge(i, bins), panel.edge(i + 1, bins));
                    let count = thousands(series.counts[i]);
                    let tip = format!("{} to {}: {count}", short(from), short(to));
                    (from, to, *height, tip)
                };
                let words = series.counts.iter().filter(|_| self.counts);
                let words = words.map(|count| thousands(*count)).collect();
                Layer::Bars(heights.iter().enumerate().map(bar).collect(), words)
            } else {
                let mut way = vec![(panel.from, 0.0)];
                for (i, height) in heights.iter().enumerate() {
                    way.push((panel.edge(i, bins), *height));
                    way.push((panel.edge(i + 1, bins), *height));
                }
                way.push((panel.to, 0.0));
                let count = thousands(series.counts.iter().sum());
                Layer::Line(way, format!("{name}: {count} values"))
            };
            Series { key: series.key.clone(), dodge: 0.0, layers: vec![layer] }
        });
        let series = series.collect();
        let mark = |(value, word): &(f64, String)| Guide {
            from: (*value, 0.0),
            to: (*value, y.to),
            kind: GuideKind::Mark,
            word: word.clone(),
        };
        let guides = panel.mark.iter().map(mark).collect();
        let x =
            Axis { grid: !one, ..Axis::new(Scale::between(panel.from, panel.to), &self.x_title) };
        Panel { title: panel.title.clone(), x, y: Axis::new(y, &self.y_title), guides, series }
    }

    fn heights(&self, counts: &[usize]) -> Vec<f64> {
        let all = if self.counts { 1 } else { counts.iter().sum::<usize>().max(1) };
        counts.iter().map(|count| *count as f64 / all as f64).collect()
    }
}

impl HistogramPanel {
    /// The lower edge of a bin.
    fn edge(&self, bin: usize, bins: usize) -> f64 {
        self.from + (self.to - self.from) * (bin as f64 / bins.max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_falls_into_a_bin() {
        assert_eq!(count(&[0.0, 0.1, 0.5, 0.99, 1.0], 0.0, 1.0, 2), [2, 3]);
        assert_eq!(edges([3.0, 3.0].into_iter()), (2.5, 3.5));
        assert_eq!(edges(std::iter::empty()), (0.0, 1.0));
    }
}
