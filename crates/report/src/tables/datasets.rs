//! The table of the data sets: a line for each, a column for each thing that is said of them.

use super::layout;
use super::prepare::named;
use super::results::Results;
use super::spec::TableSpec;
use super::table::{Cell, Head, Line, Table};
use crate::ReportError;
use crate::book::{Book, Facts};

pub(super) fn prepare(
    spec: &TableSpec,
    book: &Book,
    results: &Results,
) -> Result<Table, ReportError> {
    layout::check_names(spec, book, results)?;
    let find = |name: &String| book.facts.iter().find(|facts| facts.dataset == *name);
    let all: Vec<&Facts> = match spec.datasets.is_empty() {
        true => book.facts.iter().collect(),
        false => spec.datasets.iter().filter_map(find).collect(),
    };
    let mut columns: Vec<&str> = Vec::new();
    for (what, _) in all.iter().flat_map(|facts| &facts.facts) {
        if !columns.contains(&what.as_str()) {
            columns.push(what);
        }
    }
    let head = |title: &str, name: &str| Head {
        title: title.to_owned(),
        name: name.to_owned(),
        span: 1,
        ..Head::default()
    };
    let title = |name: &str| {
        let known = book.datasets.iter().find(|dataset| dataset.name == name);
        known.map_or(name, |dataset| dataset.title.as_str()).to_owned()
    };
    let cell = |facts: &Facts, column: &str| {
        let found = facts.facts.iter().find(|(what, _)| what == column);
        Cell::Text(found.map(|(_, value)| value.clone()).unwrap_or_default())
    };
    let line = |facts: &&Facts| Line {
        heads: vec![head(&title(&facts.dataset), &facts.dataset)],
        cells: columns.iter().map(|column| cell(facts, column)).collect(),
    };
    Ok(Table {
        corner: vec!["Data".to_owned()],
        heads: vec![columns.iter().map(|column| head(column, column)).collect()],
        lines: all.iter().map(line).collect(),
        ..named(spec)
    })
}
