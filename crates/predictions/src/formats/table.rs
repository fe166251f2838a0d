//! Tables (CSV, TSV, JSON Lines, Parquet): an id column, and a column of numbers for each class;
//! or an id column and one column of lists.

use dissensus_io::Example;
use dissensus_io::{Problem, ReadError, shorten};
use dissensus_io::{Source, Table, cell_text};
use serde_json::Value;

use super::{Format, RawPredictions, kind_of};
use crate::read::ReadOptions;

pub(super) const FORMAT: Format = Format {
    name: "table",
    layout: "CSV, TSV, JSON Lines or Parquet: an id column, then a number for each class, or one list",
    examples: &[
        Example::text("model.csv", "id,no,yes\na,0.75,0.25\nb,0.1,0.9\n"),
        Example::text(
            "model.jsonl",
            "{\"id\": \"a\", \"logits\": [1.5, -0.5]}\n{\"id\": \"b\", \"logits\": [0.25, 2.0]}\n",
        ),
    ],
    detect: |source, options| match source {
        Source::Table(table) => layout(table, options).is_some(),
        _ => false,
    },
    read,
};

/// Names of an id column and of a column of lists.
const IDS: [&str; 10] = [
    "id",
    "uid",
    "item",
    "item_id",
    "task",
    "example_id",
    "instance_id",
    "image",
    "image_id",
    "index",
];
const LISTS: [&str; 8] = [
    "logits",
    "probabilities",
    "probs",
    "predicted_probabilities",
    "prediction",
    "predictions",
    "scores",
    "outputs",
];

enum Layout {
    /// One column of lists.
    List { id: Option<usize>, values: usize },
    /// A column for each class.
    Columns { id: Option<usize>, values: Vec<usize> },
}

fn number(cell: &Value) -> Option<f64> {
    match cell {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn layout(table: &Table, options: &ReadOptions) -> Option<Layout> {
    let lower: Vec<String> = table.columns.iter().map(|c| c.to_lowercase()).collect();
    let by_name = |names: &[&str]| names.iter().find_map(|n| lower.iter().position(|c| c == n));
    let said = options.id.as_ref().map(|name| table.columns.iter().position(|c| c == name));
    let id = match said {
        Some(column) => Some(column?),
        None => by_name(&IDS),
    };
    if let Some(values) = by_name(&LISTS)
        && table.sample.iter().all(|row| list(row.cell(values)).is_some())
    {
        return Some(Layout::List { id, values });
    }
    let numeric = |c: usize| table.sample.iter().all(|row| number(row.cell(c)).is_some());
    // pandas writes its index as a first column without a name.
    let first = || lower.first().filter(|name| name.is_empty() || !numeric(0)).map(|_| 0);
    let id = id.or_else(first);
    let values: Vec<usize> = (0..lower.len()).filter(|&c| Some(c) != id && numeric(c)).collect();
    let fine = values.len() >= 2 && !table.sample.is_empty();
    fine.then_some(Layout::Columns { id, values })
}

/// A list of numbers, or the JSON text of one.
fn list(cell: &Value) -> Option<Vec<f64>> {
    match cell {
        Value::Array(list) => list.iter().map(number).collect(),
        Value::String(text) => {
            let parsed: Value = serde_json::from_str(text).ok()?;
            parsed.as_array()?.iter().map(number).collect()
        }
        _ => None,
    }
}

fn read(
    file: &str,
    source: Source,
    options: &ReadOptions,
) -> Result<Vec<RawPredictions>, ReadError> {
    let seen = source.describe();
    let unknown = || ReadError::new(file, Problem::UnknownFormat { seen: seen.clone() });
    let Source::Table(table) = source else {
        return Err(unknown());
    };
    let layout = layout(&table, options).ok_or_else(unknown)?;
    let columns = table.columns.clone();
    let (id, classes) = match &layout {
        Layout::List { id, .. } => (*id, None),
        Layout::Columns { id, values } => {
            let names: Vec<String> = values.iter().map(|&c| columns[c].clone()).collect();
            (*id, names.iter().all(|name| !name.starts_with('#')).then_some(names))
        }
    };
    let (mut ids, mut values, mut width) = (Vec::new(), Vec::new(), 0);
    for row in table.rows(&options.limits) {
        let row = row?;
        let bad = |column: usize, problem: Problem| {
            ReadError::new(file, problem).row(row.number).column(columns[column].clone())
        };
        let before = values.len();
        match &layout {
            Layout::List { values: column, .. } => match list(row.cell(*column)) {
                Some(list) => values.extend(list),
                None => {
                    let found = shorten(&row.cell(*column).to_string());
                    return Err(bad(
                        *column,
                        Problem::Shape { expected: "a list of numbers", found },
                    ));
                }
            },
            Layout::Columns { values: wanted, .. } => {
                for &column in wanted {
                    match number(row.cell(column)) {
                        Some(value) => values.push(value),
                        None => {
                            let text = shorten(&cell_text(row.cell(column)).unwrap_or_default());
                            return Err(bad(column, Problem::NotANumber { text }));
                        }
                    }
                }
            }
        }
        let found = values.len() - before;
        if width != 0 && found != width {
            let text = format!("{found} numbers");
            let problem = Problem::Ragged { text, expected: width, found };
            return Err(ReadError::new(file, problem).row(row.number));
        }
        width = found;
        ids.extend(id.map(|column| cell_text(row.cell(column)).unwrap_or_default()));
    }
    let ids = id.is_some().then_some(ids);
    let kind = match &layout {
        Layout::List { values, .. } => kind_of(&columns[*values]),
        Layout::Columns { .. } => None,
    };
    Ok(vec![RawPredictions { name: None, ids, classes, values, width, kind }])
}
