//! What of a book a figure is about: the arms, data sets and numbers of votes that its spec keeps,
//! in the order in which they are shown.

use std::collections::{BTreeMap, BTreeSet};

use super::key::{Key, present};
use super::spec::FigureSpec;
use crate::ReportError;
use crate::book::{Arm, Book, ItemNumbers, Named, RunKey};
pub(super) use crate::tables::words::{votes as k_text, votes_title as votes};
use crate::tables::{CellKey, Results, Votes};

/// A book seen through a spec.
pub(super) struct Scope<'a> {
    pub(super) book: &'a Book,
    pub(super) spec: &'a FigureSpec,
    /// The figure, as errors name it.
    pub(super) place: String,
    pub(super) arms: Vec<Key>,
    datasets: Vec<Named>,
}

/// A data set and a number of votes: what a panel or a group is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) dataset: String,
    pub(super) k: Option<u32>,
    /// What tells it apart from the others; empty where it is the only one.
    pub(super) title: String,
}

/// The parts that are there, with a dot between them.
pub(super) fn joined(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|p| !p.is_empty()).collect();
    parts.join(" · ")
}

impl<'a> Scope<'a> {
    pub(super) fn new(spec: &'a FigureSpec, book: &'a Book) -> Result<Self, ReportError> {
        let place = format!("figure {:?}", spec.name);
        let arms = kept(&place, "arm", &spec.arms, &every_arm(book), |key| &key.name)?;
        let datasets = kept(&place, "dataset", &spec.datasets, &book.datasets, |d| &d.name)?;
        Ok(Self { book, spec, place, arms, datasets })
    }

    /// Any arm of the book.
    pub(super) fn arm(&self, name: &str) -> Result<Key, ReportError> {
        let known = self.book.arms.iter().map(|arm| arm.name.as_str());
        let found = every_arm(self.book).into_iter().find(|key| key.name == name);
        found.ok_or_else(|| ReportError::unknown(self.place.clone(), "arm", name, known))
    }

    /// Those of the arms that appear, in their order.
    pub(super) fn present<'k>(&self, found: impl Iterator<Item = &'k Key> + Clone) -> Vec<Key> {
        present(&self.arms, found)
    }

    /// Which items the results are over.
    pub(super) fn slice(&self) -> &'a str {
        self.spec.slice.as_deref().unwrap_or("all")
    }

    /// Metrics of these names, or all.
    pub(super) fn metrics(&self, names: &[String]) -> Result<Vec<String>, ReportError> {
        let mut known: Vec<String> = self.book.metrics.iter().map(|m| m.name.clone()).collect();
        for row in &self.book.rows {
            if !known.contains(&row.metric) {
                known.push(row.metric.clone());
            }
        }
        // Of a book without any results nothing is asked.
        if known.is_empty() {
            return Ok(names.to_vec());
        }
        kept(&self.place, "metric", names, &known, |name| name)
    }

    /// A metric's title with the way that is better, and its digits.
    pub(super) fn titled(&self, name: &str) -> (String, usize) {
        let Some(metric) = self.book.metric(name) else { return (name.to_owned(), 4) };
        let title = self.book.metric_title(name);
        let way = match metric.better.arrow() {
            "" => String::new(),
            arrow => format!("\u{a0}{arrow}"),
        };
        (format!("{title}{way}"), metric.digits.min(12))
    }

    /// What there are results of that the figure shows, on a slice.
    pub(super) fn results<'r>(
        &'r self,
        results: &'r Results,
        slice: &'r str,
    ) -> impl Iterator<Item = &'r CellKey> {
        let fits = move |at: &&CellKey| at.slice == slice && self.keeps(&at.dataset, &at.arm, at.k);
        results.all().filter(fits)
    }

    /// The data sets and votes that there are results of in these metrics.
    pub(super) fn result_cells(&self, results: &Results, metrics: &[String]) -> Vec<Cell> {
        let found = self.results(results, self.slice()).filter(|at| metrics.contains(&at.metric));
        self.cells(found.map(|at| (at.dataset.as_str(), at.k)))
    }

    /// Every seed's finite value of an arm in a cell.
    pub(super) fn seeds(
        &self,
        results: &Results,
        metric: &str,
        slice: &str,
        cell: &Cell,
        key: &Key,
    ) -> Vec<(u64, f64)> {
        let [dataset, arm, metric, slice] =
            [&cell.dataset, &key.name, metric, slice].map(str::to_owned);
        let seeds = results.seeds(&CellKey { dataset, arm, k: cell.k, metric, slice });
        let finite = |(seed, value): (&u64, &Option<f64>)| {
            Some((*seed, value.filter(|value| value.is_finite())?))
        };
        seeds.into_iter().flatten().filter_map(finite).collect()
    }

    /// Whether a run is one of those that the figure shows.
    pub(super) fn keeps(&self, dataset: &str, arm: &str, k: Option<u32>) -> bool {
        let ks = &self.spec.ks;
        (ks.is_empty() || ks.contains(&Votes(k)))
            && self.arms.iter().any(|key| key.name == arm)
            && self.datasets.iter().any(|named| named.name == dataset)
    }

    pub(super) fn keeps_run(&self, of: &RunKey) -> bool {
        self.keeps(&of.dataset, &of.arm, of.k)
    }

    /// The data sets and votes of these runs, all votes last; at least one, so that a figure
    /// without data shows that it has none.
    pub(super) fn cells<'n>(
        &self,
        found: impl Iterator<Item = (&'n str, Option<u32>)>,
    ) -> Vec<Cell> {
        let order = |k: Option<u32>| k.map_or(u64::MAX, u64::from);
        let found: BTreeSet<(usize, u64)> = found
            .filter_map(|(name, k)| {
                let place = self.datasets.iter().position(|named| named.name == name)?;
                Some((place, order(k)))
            })
            .collect();
        let several =
            |of: fn(&(usize, u64)) -> u64| found.iter().map(of).collect::<BTreeSet<_>>().len() > 1;
        let (datasets, ks) = (several(|f| f.0 as u64), several(|f| f.1));
        let cell = |(place, k): &(usize, u64)| {
            let named = &self.datasets[*place];
            let k = u32::try_from(*k).ok();
            let dataset = if datasets { self.book.dataset_title(&named.name) } else { "" };
            let words = if ks { votes(k) } else { String::new() };
            Cell { dataset: named.name.clone(), k, title: joined(&[dataset, &words]) }
        };
        let cells: Vec<Cell> = found.iter().map(cell).collect();
        match (cells.is_empty(), self.datasets.first()) {
            (false, _) => cells,
            (true, first) => {
                let dataset = first.map(|d| d.name.clone()).unwrap_or_default();
                vec![Cell { dataset, k: None, title: String::new() }]
            }
        }
    }

    /// What a data set is called where there are several.
    pub(super) fn dataset_title(&self, name: &str) -> &str {
        let known = self.datasets.iter().find(|named| named.name == name);
        let known = known.filter(|_| self.datasets.len() > 1);
        known.map_or("", |named| self.book.dataset_title(&named.name))
    }

    pub(super) fn datasets(&self) -> impl Iterator<Item = &str> {
        self.datasets.iter().map(|named| named.name.as_str())
    }

    /// The title of a column: that of the metric of this name, or the name.
    pub(super) fn column_title(&self, given: Option<&String>, name: &str) -> String {
        given.map_or(self.book.metric_title(name), String::as_str).to_owned()
    }

    /// Every seed's numbers by item of an arm in a cell, by seed.
    pub(super) fn items(&self, cell: &Cell, arm: &str) -> BTreeMap<u64, &'a ItemNumbers> {
        let of = |of: &RunKey| of.dataset == cell.dataset && of.k == cell.k && of.arm == arm;
        let mut seeds = BTreeMap::new();
        for numbers in self.book.items.iter().filter(|numbers| of(&numbers.of)) {
            seeds.entry(numbers.of.seed).or_insert(numbers);
        }
        seeds
    }

    /// The cells that have numbers by item.
    pub(super) fn item_cells(&self) -> Vec<Cell> {
        let runs = self.book.items.iter().map(|numbers| &numbers.of);
        let runs = runs.filter(|of| self.keeps_run(of));
        self.cells(runs.map(|of| (of.dataset.as_str(), of.k)))
    }

    /// A column that the spec must name and that the items must have.
    pub(super) fn column(&self, key: &'static str, name: &str) -> Result<(), ReportError> {
        if name.is_empty() {
            return Err(ReportError::FigureSetting { place: self.place.clone(), key });
        }
        let mut known: Vec<&str> = Vec::new();
        // Of runs that the figure does not show nothing is asked.
        let shown = self.book.items.iter().filter(|numbers| self.keeps_run(&numbers.of));
        for (column, _) in shown.flat_map(|numbers| &numbers.columns) {
            if !known.contains(&column.as_str()) {
                known.push(column);
            }
        }
        if known.is_empty() || known.contains(&name) {
            return Ok(());
        }
        let known = known.iter().copied();
        Err(ReportError::unknown(self.place.clone(), "column of the items", name, known))
    }
}

/// The arms of a book, each with its look.
fn every_arm(book: &Book) -> Vec<Key> {
    let key = |(look, arm): (usize, &Arm)| Key {
        name: arm.name.clone(),
        title: book.arm_title(&arm.name).to_owned(),
        look,
    };
    book.arms.iter().enumerate().map(key).collect()
}

/// Those that are asked for, in that order; all where none are.
pub(super) fn kept<T: Clone>(
    place: &str,
    what: &'static str,
    asked: &[String],
    all: &[T],
    name: fn(&T) -> &String,
) -> Result<Vec<T>, ReportError> {
    if asked.is_empty() {
        return Ok(all.to_vec());
    }
    let find = |asked: &String| {
        let found = all.iter().find(|one| name(one) == asked).cloned();
        found.ok_or_else(|| {
            let known = all.iter().map(|one| name(one).as_str());
            ReportError::unknown(place.to_owned(), what, asked, known)
        })
    };
    asked.iter().map(find).collect()
}
