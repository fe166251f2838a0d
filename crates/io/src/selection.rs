//! A part of a table: the rows with given values, and several columns joined into one more.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

use crate::options::Limits;
use crate::table::{Body, Row, Rows, Table, TableKind, cell_text};

/// What is read of a table.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Columns, and the values that a row must have there, or must not have.
    pub rows: Vec<Condition>,
    /// Columns whose cells are joined, and the name of the column that they make, the last one. Rows where one of
    /// them is empty have nothing there.
    pub joined: Option<(String, Vec<usize>)>,
}

/// The values of a column that a row must have, or must not have.
#[derive(Clone, Debug)]
pub struct Condition {
    /// The column.
    pub column: usize,
    /// Whether a row must have one of the values; otherwise it must have none of them.
    pub wanted: bool,
    /// The values, without spaces around.
    pub values: HashSet<String>,
}

impl Condition {
    fn fits(&self, row: &Row) -> bool {
        let text = cell_text(row.cell(self.column)).unwrap_or_default();
        self.values.contains(text.trim()) == self.wanted
    }
}

impl Selection {
    /// The row as it is read; `None` where it is left out.
    fn apply(&self, mut row: Row, width: usize) -> Option<Row> {
        if !self.rows.iter().all(|condition| condition.fits(&row)) {
            return None;
        }
        if let Some((_, columns)) = &self.joined {
            let parts: Option<Vec<String>> = columns
                .iter()
                .map(|&c| cell_text(row.cell(c)).filter(|text| !text.trim().is_empty()))
                .collect();
            row.cells.resize(width, Value::Null);
            row.cells.push(parts.map_or(Value::Null, |parts| Value::String(joined(&parts))));
        }
        Some(row)
    }
}

/// Parts of an id as one: `a/b`. A slash within a part is `\/`, so that no two ids become one.
fn joined(parts: &[String]) -> String {
    let escaped: Vec<String> =
        parts.iter().map(|part| part.trim().replace('\\', r"\\").replace('/', r"\/")).collect();
    escaped.join("/")
}

/// A table of which a part is read.
pub(super) struct Part {
    table: Table,
    selection: Selection,
    left_out: Arc<AtomicU64>,
}

impl Part {
    /// The metadata of the whole table.
    pub(super) fn metadata(&self, key: &str) -> Option<String> {
        self.table.metadata(key)
    }

    /// The rows that are read; those left out are counted.
    pub(super) fn rows(self, limits: &Limits) -> Rows {
        let Self { table, selection, left_out } = self;
        let width = table.columns.len();
        Box::new(table.rows(limits).filter_map(move |row| match row {
            Ok(row) => {
                let kept = selection.apply(row, width);
                left_out.fetch_add(u64::from(kept.is_none()), Ordering::Relaxed);
                kept.map(Ok)
            }
            Err(error) => Some(Err(error)),
        }))
    }
}

impl Table {
    /// The part of the table that is selected, and how many rows were left out when they have been read.
    pub fn select(self, selection: Selection) -> (Self, Arc<AtomicU64>) {
        let width = self.columns.len();
        let mut columns = self.columns.clone();
        columns.extend(selection.joined.iter().map(|(name, _)| name.clone()));
        let sample: Vec<Row> =
            self.sample.iter().cloned().filter_map(|row| selection.apply(row, width)).collect();
        let kind = match self.kind {
            TableKind::Delimited(_) | TableKind::Frame => TableKind::Selected,
            other => other,
        };
        let left_out = Arc::new(AtomicU64::new(0));
        let part = Part { table: self, selection, left_out: left_out.clone() };
        (Self { kind, columns, sample, body: Body::Part(Box::new(part)) }, left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Input, Source, SourceOptions};

    fn table(text: &str) -> Table {
        let input = Input::from_bytes("x", text.into()).unwrap();
        match Source::open(input, &SourceOptions::default()).unwrap() {
            Source::Table(table) => table,
            _ => panic!("no table"),
        }
    }

    #[test]
    fn rows_and_columns_are_selected() {
        let values = |list: &[&str]| list.iter().map(ToString::to_string).collect();
        let selection = Selection {
            rows: vec![
                Condition { column: 2, wanted: true, values: values(&["ok"]) },
                Condition { column: 1, wanted: false, values: values(&["3"]) },
            ],
            joined: Some(("doc,part".to_owned(), vec![0, 1])),
        };
        let text = "doc,part,state\na,1,ok\na/2,1,ok \nb,2,bad\nb,3,ok\n,1,ok\n";
        let (part, left_out) = table(text).select(selection);
        assert_eq!(part.columns, ["doc", "part", "state", "doc,part"]);
        assert_eq!(part.sample.len(), 3);
        let rows: Vec<Row> = part.rows(&Limits::default()).map(Result::unwrap).collect();
        let ids: Vec<Option<&str>> = rows.iter().map(|row| row.cell(3).as_str()).collect();
        assert_eq!(ids, [Some("a/1"), Some(r"a\/2/1"), None]);
        assert_eq!(left_out.load(Ordering::Relaxed), 2);
        // A slash within a part is told from one between parts.
        assert_ne!(joined(&["a/b".into(), "c".into()]), joined(&["a".into(), "b/c".into()]));
        assert_ne!(joined(&["a\\".into(), "b".into()]), joined(&["a".into(), "\\b".into()]));
    }
}
