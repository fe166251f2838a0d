//! Long tables: one row a vote, in columns for the item, the annotator and the label.
//!
//! Text tables (CSV, TSV) go through the parallel reader in `long_text`; JSON Lines and Parquet
//! row by row. The canonical table that `votes convert` writes is a long table with one column
//! more, `class`: the place of the label in the order of the classes, so that nothing is lost.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::columns::{self, Role};
use super::{Format, long_text};
use crate::collector::{Collector, Finding, Severity};
use crate::options::ReadOptions;
use dissensus_io::{Problem, ReadError};
use dissensus_io::{Source, Table, TableKind, cell_text};

pub(super) const FORMAT: Format = Format {
    name: "long",
    title: "Long table: one row a vote (crowd-kit, cleanlab, POPQUORN raw, our own)",
    layout: "CSV, TSV, JSON Lines or Parquet with columns such as task, worker, label",
    trap: "column names differ: they are guessed from known names, printed, and can be named",
    detect,
    read,
};

/// Which column is what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) item: usize,
    pub(super) annotator: Option<usize>,
    pub(super) label: usize,
    pub(super) weight: Option<usize>,
    /// The place of the label in the order of the classes (canonical tables only).
    pub(super) class: Option<usize>,
    /// The item's text, where texts are wanted.
    pub(super) text: Option<usize>,
}

/// Values that mean "no vote" unless the user names others.
const MISSING: [&str; 8] = ["", "NaN", "nan", "NA", "N/A", "null", "None", "<NA>"];

/// The values that mean "no vote". In a canonical table a class may be called `NA`.
pub(super) fn missing(options: &ReadOptions, canonical: bool) -> HashSet<String> {
    match &options.missing {
        Some(values) => values.iter().cloned().collect(),
        None if canonical => HashSet::from([String::new()]),
        None => MISSING.iter().map(ToString::to_string).collect(),
    }
}

/// States how many votes were missing.
pub(super) fn note_missing(
    collector: &mut Collector<'_>,
    count: u64,
    first: Option<(String, u64)>,
) {
    if count == 0 {
        return;
    }
    collector.note("missing", format!("{count} empty votes left out"));
    let (item, row) = first.unzip();
    let message = "an empty label: no vote";
    let finding = Finding::new(Severity::Note, "missing-value", message).times(count);
    collector.finding(finding.at(item.as_deref(), row).remedy("fill it in, or drop the row"));
}

fn is_headerless(table: &Table) -> bool {
    matches!(table.kind, TableKind::Delimited(dialect) if !dialect.header)
}

fn layout(table: &Table, options: &ReadOptions) -> Result<Layout, Problem> {
    let find = |role, said: &Option<String>| columns::find(table, role, said.as_deref());
    let mut item = find(Role::Item, &options.item)?;
    let mut annotator = find(Role::Annotator, &options.annotator)?;
    let mut label = find(Role::Label, &options.label)?;
    if is_headerless(table) {
        // item, annotator, label; or item, label: the order that such files have.
        item = item.or(Some(0));
        annotator = annotator.or((table.columns.len() >= 3).then_some(1));
        label = label.or(match table.columns.len() {
            0 | 1 => None,
            2 => Some(1),
            _ => Some(2),
        });
    }
    let class = table.column("class").filter(|_| table.column("label").is_some());
    if label.is_none() && item.is_some() && annotator.is_some() {
        label = only_rating(table, item, annotator);
    }
    let item = item.ok_or_else(|| columns::no_column(table, Role::Item))?;
    let label = label.ok_or_else(|| columns::no_column(table, Role::Label))?;
    let weight = find(Role::Weight, &options.weight)?;
    Ok(Layout { item, annotator, label, weight, class, text: None })
}

/// POPQUORN names the label column after the task: it is the only one of few numbers.
fn only_rating(table: &Table, item: Option<usize>, annotator: Option<usize>) -> Option<usize> {
    let rating = |&column: &usize| {
        let mut values = HashSet::new();
        let number = |cell: &Value| columns::number(cell).map(f64::to_bits);
        table.sample.iter().all(|row| {
            number(row.cell(column)).is_some_and(|v| {
                values.insert(v);
                values.len() <= 12
            })
        })
    };
    let others = (0..table.columns.len()).filter(|&c| Some(c) != item && Some(c) != annotator);
    let mut ratings = others.filter(rating);
    ratings.next().filter(|_| ratings.next().is_none() && !table.sample.is_empty())
}

fn detect(source: &Source, options: &ReadOptions) -> bool {
    let Source::Table(table) = source else {
        return false;
    };
    let said = options.item.is_some() || options.label.is_some();
    match layout(table, options) {
        Err(_) => false,
        Ok(_) if said => true,
        Ok(_) if is_headerless(table) => (2..=4).contains(&table.columns.len()),
        // A wide table or a matrix may have an id and a column called `label` beside its others;
        // it has no annotator column.
        Ok(found) => found.annotator.is_some() || table.columns.len() <= 4,
    }
}

fn read(source: Source, collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let seen = source.describe();
    let Source::Table(table) = source else {
        return Err(collector.error(Problem::NotThisFormat { format: FORMAT.name, seen }));
    };
    let wrong = |problem| collector.error(problem).row(1);
    let mut layout = layout(&table, collector.options).map_err(wrong)?;
    let Layout { annotator, label, weight, class, .. } = layout;
    layout.text =
        columns::text(&table, collector.options, &[annotator, Some(label), weight, class])
            .map_err(wrong)?;
    let name = |column: usize| table.columns[column].clone();
    let said = collector.options;
    if said.item.is_none() {
        collector.note("item column", name(layout.item));
    }
    if said.annotator.is_none() {
        let value = layout.annotator.map_or("none: votes without annotators".to_owned(), name);
        collector.note("annotator column", value);
    }
    if said.label.is_none() {
        collector.note("label column", name(layout.label));
    }
    if let (None, Some(weight)) = (&said.weight, layout.weight) {
        collector.note("weight column", name(weight));
    }
    if let (None, Some(text)) = (&said.text, layout.text) {
        collector.note("text column", name(text));
    }
    if layout.weight.is_some() {
        collector.builder.require_votes();
    }
    match table.kind {
        TableKind::Delimited(dialect) => long_text::read(table, dialect, layout, collector),
        TableKind::JsonLines | TableKind::JsonArray | TableKind::Parquet => {
            read_rows(table, layout, collector)
        }
    }
}

fn read_rows(table: Table, layout: Layout, collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let columns = table.columns.clone();
    let missing_values = missing(collector.options, layout.class.is_some());
    let mut missing = (0, None);
    let mut order = ClassOrderColumn::default();
    let mut texts = Texts::default();
    for row in table.rows(&collector.options.limits) {
        let Some(row) = collector.good(row)? else {
            continue;
        };
        let text = |column: usize| cell_text(row.cell(column)).unwrap_or_default();
        let (item, label) = (text(layout.item), text(layout.label));
        if let Some(column) = layout.class {
            order.see(&label, &text(column)).map_err(|p| collector.error(p).row(row.number))?;
            // A canonical table names a class that nobody chose in a row without an item.
            if item.is_empty() && !label.is_empty() {
                continue;
            }
        }
        if item.is_empty() {
            let error = collector.error(Problem::EmptyCell { role: "item" }).row(row.number);
            collector.reject(error.column(&columns[layout.item]))?;
            continue;
        }
        if let Some(column) = layout.text {
            texts.see(&item, &text(column));
        }
        if missing_values.contains(&label) {
            collector
                .builder
                .item(&item, row.number)
                .map_err(|e| collector.error(e).row(row.number))?;
            missing.0 += 1;
            missing.1.get_or_insert((item, row.number));
            continue;
        }
        let weight = match layout.weight.map(|c| (c, row.cell(c))) {
            None | Some((_, Value::Null)) => 1.0,
            Some((column, cell)) => match columns::number(cell) {
                Some(weight) => weight,
                None => {
                    let text = cell_text(cell).unwrap_or_default();
                    let error = collector.error(Problem::NotANumber { text }).row(row.number);
                    collector.reject(error.column(&columns[column]).item(item))?;
                    continue;
                }
            },
        };
        let annotator = layout.annotator.map(text).filter(|a| !a.is_empty());
        collector.vote(&item, annotator.as_deref(), &label, weight, row.number)?;
    }
    note_missing(collector, missing.0, missing.1);
    texts.keep(collector);
    order.declare(collector)
}

/// The texts of a table's items: of each the first that is not empty.
#[derive(Default)]
pub(super) struct Texts {
    known: HashSet<String>,
    all: Vec<(String, String)>,
}

impl Texts {
    /// A row of the item says this.
    pub(super) fn see(&mut self, item: &str, text: &str) {
        if !text.is_empty() && !self.known.contains(item) {
            self.known.insert(item.to_owned());
            self.all.push((item.to_owned(), text.to_owned()));
        }
    }

    /// Takes over what a later part of the table says.
    pub(super) fn merge(&mut self, other: Self) {
        other.all.iter().for_each(|(item, text)| self.see(item, text));
    }

    pub(super) fn keep(self, collector: &mut Collector<'_>) {
        collector.texts.extend(self.all);
    }
}

/// The column `class` of a canonical table: the place of each label in the order of the classes.
#[derive(Default)]
pub(super) struct ClassOrderColumn {
    places: Vec<(String, String)>,
    /// Where a label stands in `places`.
    seen: HashMap<String, usize>,
}

impl ClassOrderColumn {
    /// Checks that a label has the same place in every row.
    pub(super) fn see(&mut self, label: &str, place: &str) -> Result<(), Problem> {
        if label.is_empty() {
            return Ok(());
        }
        match self.seen.get(label).and_then(|&at| self.places.get(at)) {
            Some((_, known)) if known == place => Ok(()),
            Some((_, known)) => Err(Problem::Shape {
                expected: "one class number for each label",
                found: format!("{place:?} for {label:?}, which had {known:?} before"),
            }),
            None => {
                self.seen.insert(label.to_owned(), self.places.len());
                self.places.push((label.to_owned(), place.to_owned()));
                Ok(())
            }
        }
    }

    /// Takes over what another part of the table says.
    pub(super) fn merge(&mut self, other: Self) -> Result<(), Problem> {
        other.places.iter().try_for_each(|(label, place)| self.see(label, place))
    }

    /// Gives the classes the order of their places, unless the user declared another.
    pub(super) fn declare(self, collector: &mut Collector<'_>) -> Result<(), ReadError> {
        if self.places.is_empty() || collector.options.classes.is_some() {
            return Ok(());
        }
        let mut names = vec![None; self.places.len()];
        for (label, place) in self.places {
            let slot = place.parse::<usize>().ok().and_then(|place| names.get_mut(place));
            match slot {
                Some(slot @ None) => *slot = Some(label),
                _ => {
                    let expected = "class numbers 0, 1, … each for one label";
                    let found = format!("{place:?} for {label:?}");
                    return Err(collector
                        .error(Problem::Shape { expected, found })
                        .column("class"));
                }
            }
        }
        let names = names.into_iter().flatten().collect();
        collector.builder.declare_format(names).map_err(|e| collector.error(e))
    }
}
