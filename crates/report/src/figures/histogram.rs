//! Histograms: the share of values in bins of equal width, one outline for each arm; bars where
//! there is only one, and for people, behind the arms.

use super::figure::{Drawn, Figure};
use super::key::{Key, present};
use super::kind::{Kind, Names, Setting};
use super::panel::{Axis, Guide, GuideKind, Layer, Panel, Series};
use super::scale::{Scale, short, thousands};
use super::scope::{Cell, Scope, k_text};
use super::sheet::{DOUBLE, Sample, Sheet};
use crate::ReportError;
use crate::csv::{Csv, number};

/// Bins where the spec does not say how many.
const BINS: usize = 20;

pub(super) const KIND: Kind = Kind {
    name: "histogram",
    template: r#"# The distribution of one column, an outline per arm; `people` is the same for the votes, as bars.
[[figure]]
name = "histogram"
title = "Entropies"
kind = "histogram"
ks = ["all"]
x = "prediction_entropy"
people = "annotator_entropy"
# Of all items of the dataset instead, which have `annotator_entropy`, `normalized_entropy` and `label_variance`.
# data = false
"#,
    settings: &[
        Setting::new("x", Names::ItemColumn),
        Setting::new("people", Names::ItemColumn),
        Setting::plain("data"),
        Setting::plain("count"),
        Setting::plain("x_title"),
        Setting::plain("y_title"),
    ],
    prepare,
};

/// One data set and number of votes: edges of the first and the last bin, and for each arm how many
/// values fell into each bin, over all seeds.
struct Histogram {
    cell: Cell,
    from: f64,
    to: f64,
    series: Vec<(Key, Vec<usize>)>,
}

fn prepare(scope: &Scope<'_>) -> Result<Drawn, ReportError> {
    let spec = scope.spec;
    if spec.data {
        return Ok(of_data(scope));
    }
    scope.column("x", &spec.x)?;
    if let Some(people) = &spec.people {
        scope.column("people", people)?;
    }
    let bins = spec.count.unwrap_or(BINS).clamp(1, 1000);
    let mut seeds = 0;
    let mut all = Vec::new();
    for cell in scope.item_cells() {
        let mut found: Vec<(Key, Vec<f64>)> = Vec::new();
        for key in &scope.arms {
            let runs = scope.items(&cell, &key.name);
            seeds = seeds.max(runs.len());
            let of = |column: &str| -> Vec<f64> {
                let columns = runs.values().filter_map(|numbers| numbers.column(column));
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
        let counted = |(key, all): (Key, Vec<f64>)| (key, count(&all, from, to, bins));
        all.push(Histogram { cell, from, to, series: found.into_iter().map(counted).collect() });
    }
    let x_title = scope.column_title(spec.x_title.as_ref(), &spec.x);
    let y_title = spec.y_title.as_deref().unwrap_or("share of items");
    let known: Vec<Key> = [of_people()].into_iter().chain(scope.arms.iter().cloned()).collect();
    let seen = all.iter().flat_map(|one| one.series.iter().map(|(key, _)| key));
    let legend = present(&known, seen);
    let note = if seeds > 1 { "Items of all seeds together." } else { "" };
    let sample = if legend.len() > 1 { Sample::Bare } else { Sample::Marker };
    let panel = |one: &Histogram| one.panel(Shown::Shares, [&x_title, y_title]);
    let sheet = Sheet::of(all.iter().map(panel).collect(), legend, sample);
    Ok(Drawn::new(csv(&all), sheet, note))
}

/// Of all items of each data set.
fn of_data(scope: &Scope<'_>) -> Drawn {
    let bins = scope.spec.count.unwrap_or(BINS).clamp(1, 1000);
    let (x_title, y_title) =
        (scope.column_title(scope.spec.x_title.as_ref(), &scope.spec.x), "items");
    let y_title = scope.spec.y_title.as_deref().unwrap_or(y_title);
    let mut all = Vec::new();
    for dataset in scope.datasets() {
        let here = scope.book.data.iter().filter(|numbers| numbers.of.dataset == dataset);
        let values: Vec<f64> = here
            .filter_map(|numbers| numbers.column(&scope.spec.x))
            .flatten()
            .copied()
            .filter(|x| x.is_finite())
            .collect();
        let (from, to) = edges(values.iter().copied());
        let title = scope.dataset_title(dataset).to_owned();
        let cell = Cell { dataset: dataset.to_owned(), title, ..Cell::default() };
        let series = vec![(of_people(), count(&values, from, to, bins))];
        all.push(Histogram { cell, from, to, series });
    }
    let panels = all.iter().map(|one| one.panel(Shown::Plain, [&x_title, y_title])).collect();
    Drawn::new(
        csv(&all),
        Sheet::of(panels, Vec::new(), Sample::Marker),
        "All items of each data set.",
    )
}

impl Figure {
    /// How many items fell into each bin of equal width from 0 to 1, with a value to mark by a word.
    pub fn counts(
        name: &str,
        title: String,
        counts: Vec<usize>,
        mark: Option<(f64, String)>,
        titles: [&str; 2],
    ) -> Self {
        let series = vec![(Key::default(), counts)];
        let all = [Histogram { cell: Cell::default(), from: 0.0, to: 1.0, series }];
        let panels = vec![all[0].panel(Shown::Counts(mark), titles)];
        let sheet = Sheet::of(panels, Vec::new(), Sample::Marker);
        Drawn::new(csv(&all), Sheet { width: DOUBLE, aspect: 0.5, ..sheet }, "").figure(name, title)
    }
}

fn csv(all: &[Histogram]) -> Csv {
    let mut csv = Csv::new(&["dataset", "k", "arm", "bin", "from", "to", "count", "share"]);
    for one in all {
        for (key, counts) in &one.series {
            let sum = counts.iter().sum::<usize>().max(1) as f64;
            for (i, count) in counts.iter().enumerate() {
                csv.row(&[
                    &one.cell.dataset,
                    &k_text(one.cell.k),
                    &key.name,
                    &(i + 1).to_string(),
                    &number(one.edge(i, counts.len())),
                    &number(one.edge(i + 1, counts.len())),
                    &count.to_string(),
                    &number(*count as f64 / sum),
                ]);
            }
        }
    }
    csv
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

/// What the height of a bar is.
enum Shown {
    Shares,
    /// Counts, without words.
    Plain,
    /// Written above each bar, with a value to mark.
    Counts(Option<(f64, String)>),
}

impl Histogram {
    /// The lower edge of a bin.
    fn edge(&self, bin: usize, bins: usize) -> f64 {
        self.from + (self.to - self.from) * (bin as f64 / bins.max(1) as f64)
    }

    fn panel(&self, shown: Shown, [x_title, y_title]: [&str; 2]) -> Panel {
        let one = self.series.len() == 1;
        let whole = matches!(shown, Shown::Counts(_) | Shown::Plain);
        let told = matches!(shown, Shown::Counts(_));
        let heights = |counts: &Vec<usize>| -> Vec<f64> {
            let all = if whole { 1 } else { counts.iter().sum::<usize>().max(1) };
            counts.iter().map(|count| *count as f64 / all as f64).collect()
        };
        let all: Vec<Vec<f64>> = self.series.iter().map(|(_, counts)| heights(counts)).collect();
        let most = all.iter().flatten().copied().fold(0.0, f64::max);
        // Words above the bars, and a mark's word above those, need room.
        let room = match shown {
            Shown::Counts(Some(_)) => 1.16,
            Shown::Counts(None) => 1.1,
            Shown::Shares | Shown::Plain => 1.06,
        };
        let y = Scale::between(0.0, if most > 0.0 { most * room } else { 1.0 });
        let series = self.series.iter().zip(all).map(|((key, counts), heights)| {
            let bins = heights.len();
            if !one && *key != of_people() {
                return Series::new(key, vec![self.outline(key, counts, &heights)]);
            }
            let bar = |(i, height): (usize, &f64)| {
                let (from, to) = (self.edge(i, bins), self.edge(i + 1, bins));
                let count = thousands(counts[i]);
                (from, to, *height, format!("{} to {}: {count}", short(from), short(to)))
            };
            let words = counts.iter().filter(|_| told).map(|count| thousands(*count)).collect();
            let bars = heights.iter().enumerate().map(bar).collect();
            Series::new(key, vec![Layer::Bars(bars, words)])
        });
        let series = series.collect();
        let guides = match shown {
            Shown::Counts(Some((value, word))) => {
                vec![Guide { word, ..Guide::new((value, 0.0), (value, y.to), GuideKind::Mark) }]
            }
            _ => Vec::new(),
        };
        let x = Axis { grid: !one, ..Axis::new(Scale::between(self.from, self.to), x_title) };
        let y = Axis::new(y, y_title);
        Panel { guides, ..Panel::new(self.cell.title.clone(), x, y, series) }
    }

    fn outline(&self, key: &Key, counts: &[usize], heights: &[f64]) -> Layer {
        let mut way = vec![(self.from, 0.0)];
        for (i, height) in heights.iter().enumerate() {
            way.push((self.edge(i, heights.len()), *height));
            way.push((self.edge(i + 1, heights.len()), *height));
        }
        way.push((self.to, 0.0));
        let count = thousands(counts.iter().sum());
        Layer::Line(way, format!("{}: {count} values", key.title))
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
