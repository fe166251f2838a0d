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
    let cell = |facts: &Facts, column: &str| {
        let found = facts.facts.iter().find(|(what, _)| what == column);
        Cell::Text(found.map(|(_, value)| value.clone()).unwrap_or_default())
    };
    let line = |facts: &&Facts| Line {
        heads: vec![Head::plain(book.dataset_title(&facts.dataset), &facts.dataset)],
        cells: columns.iter().map(|column| cell(facts, column)).collect(),
    };
    Ok(Table {
        corner: vec!["Data".to_owned()],
        heads: vec![columns.iter().map(|column| Head::plain(*column, *column)).collect()],
        lines: all.iter().map(line).collect(),
        ..named(spec)
    })
}
