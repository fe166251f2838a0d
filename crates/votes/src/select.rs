//! The part of a table that the options select: rows with a value (`rows`), the rows of one question (`label` names a
//! value of a column of questions), and an item that is made of several columns (`item = doc,sentence`).

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use dissensus_core::plain_label;
use dissensus_io::{
    Condition, Problem, ReadOption, Selection, Source, Table, cell_text, json, shorten,
};

use crate::formats::columns;
use crate::names;
use crate::options::ReadOptions;

/// The rest of a source, with the options that are left to follow.
pub(crate) struct Selected {
    pub(crate) source: Source,
    pub(crate) options: ReadOptions,
    /// What was selected, and how many rows were left out when they have been read.
    pub(crate) rows: Option<(String, Arc<AtomicU64>)>,
}

/// A condition as it is written: `status=accepted`, or `status!=rejected`.
struct Written<'o> {
    column: &'o str,
    wanted: bool,
    value: &'o str,
}

fn written(text: &str) -> Option<Written<'_>> {
    let (left, value) = text.split_once('=')?;
    let (column, wanted) = match left.strip_suffix('!') {
        Some(column) => (column, false),
        None => (left, true),
    };
    let column = column.trim();
    (!column.is_empty()).then(|| Written { column, wanted, value: value.trim() })
}

/// The part of a source that the options select; `None` where they select nothing.
pub(crate) fn select(
    source: Source,
    options: &ReadOptions,
) -> Result<Result<Selected, Source>, Problem> {
    let table = match source {
        Source::Table(table) => table,
        Source::Json(value)
            if options.rows.is_some() || options.item.as_ref().is_some_and(|i| i.contains(',')) =>
        {
            json::array_as_table(value).map_err(|_| Problem::UnusedOption {
                option: if options.rows.is_some() { ReadOption::Rows } else { ReadOption::Item },
                format: "JSON that is no list of rows",
            })?
        }
        other => return Ok(Err(other)),
    };
    let mut left = options.clone();
    let mut selection = Selection::default();
    let mut said = Vec::new();
    let no_column = |name: &str| Problem::NoSuchColumn {
        name: shorten(name),
        columns: table.columns.join(", "),
    };
    for text in left.rows.take().into_iter().flatten() {
        let Some(Written { column, wanted, value }) = written(&text) else {
            return Err(Problem::Shape {
                expected: "rows as COLUMN=VALUE or COLUMN!=VALUE",
                found: shorten(&text),
            });
        };
        let column = columns::named(&table.columns, column).ok_or_else(|| no_column(column))?;
        let known = selection.rows.iter_mut().find(|c| c.column == column && c.wanted == wanted);
        match known {
            Some(known) => drop(known.values.insert(value.to_owned())),
            None => selection.rows.push(Condition {
                column,
                wanted,
                values: [value.to_owned()].into_iter().collect(),
            }),
        }
        said.push(text);
    }
    if let Some(question) = &options.label
        && let Some(column) = column_of_question(&table, question)
    {
        let values = [question.clone()].into_iter().collect();
        selection.rows.push(Condition { column, wanted: true, values });
        said.push(format!("{}={question}", table.columns[column]));
        left.label = None;
    }
    let several = options
        .item
        .as_ref()
        .filter(|item| item.contains(',') && columns::named(&table.columns, item).is_none());
    if let Some(item) = several {
        let parts: Result<Vec<usize>, Problem> = item
            .split(',')
            .map(|part| columns::named(&table.columns, part.trim()).ok_or_else(|| no_column(part)))
            .collect();
        selection.joined = Some((item.clone(), parts?));
    }
    if said.is_empty() && selection.joined.is_none() {
        return Ok(Err(Source::Table(table)));
    }
    let (table, left_out) = table.select(selection);
    let rows = (!said.is_empty()).then(|| (said.join(", "), left_out));
    Ok(Ok(Selected { source: Source::Table(table), options: left, rows }))
}

/// The column of questions in which this is one; no column has this name.
fn column_of_question(table: &Table, question: &str) -> Option<usize> {
    if columns::named(&table.columns, question).is_some() {
        return None;
    }
    let is_question = |&c: &usize| {
        let value = |row: &dissensus_io::Row| cell_text(row.cell(c));
        names::question(&table.columns[c])
            && table.sample.iter().filter_map(value).any(|value| plain_label(&value) == question)
    };
    let mut found = (0..table.columns.len()).filter(is_question);
    found.next().filter(|_| found.next().is_none())
}
