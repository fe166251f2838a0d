//! Tables (CSV, TSV, JSON Lines, Parquet) of feature vectors: an id column, and a column for each
//! feature; or an id column and one column of lists.
//!
//! Every column that is not the id and not in `skip` is a feature. A text among them is an error
//! that names it, and so is a column that is called a label: a table must not tell a model the
//! answer because nobody looked.

use dissensus_core::{IdCandidate, IdChoice, choose_ids, is_id_name};
use dissensus_io::Example;
use dissensus_io::ReadOption;
use dissensus_io::shorten;
use dissensus_io::{Row, Source, Table, cell_text};
use serde_json::Value;

use super::{Format, Opened, Origin, columns, misplaced};
use crate::error::{InputError, listed, place};
use crate::features::Features;
use crate::inputs::{Inputs, Kind, check_ids};
use crate::options::ReadOptions;

pub(super) const FORMAT: Format = Format {
    name: "features",
    layout: "CSV, TSV, JSON Lines or Parquet: an id column, then a number for each feature, or one list `embedding` or `features`",
    examples: &[
        Example::text("features.csv", "id,x1,x2\na,0.5,1.25\nb,0.0,2.5\n"),
        Example::text(
            "embeddings.jsonl",
            "{\"id\": \"a\", \"embedding\": [0.5, 1.25]}\n{\"id\": \"b\", \"embedding\": [0.0, 2.5]}\n",
        ),
    ],
    options: &[ReadOption::Id, ReadOption::Key, ReadOption::Skip],
    detect: |opened, _| matches!(opened, Opened::Source(Source::Table(_))),
    read,
};

/// Names of a column of lists, and of one that holds the answer.
const LISTS: [&str; 6] = ["embedding", "embeddings", "features", "vector", "values", "x"];
const ANSWERS: [&str; 6] = ["label", "labels", "target", "targets", "class", "classes"];

/// The column of lists: as the user says, else by a known name where lists are in it.
pub(super) fn list_column(
    file: &str,
    table: &Table,
    options: &ReadOptions,
) -> Result<Option<usize>, InputError> {
    if let Some(key) = &options.key {
        return columns::named(file, &table.columns, ReadOption::Key, key).map(Some);
    }
    let lists = |&column: &usize| {
        !table.sample.is_empty() && table.sample.iter().all(|row| list(row.cell(column)).is_some())
    };
    Ok(columns::known(&table.columns, &LISTS).filter(lists))
}

/// A list, or the JSON text of one.
fn list(cell: &Value) -> Option<Vec<Value>> {
    match cell {
        Value::Array(list) => Some(list.clone()),
        Value::String(text) => serde_json::from_str(text).ok(),
        _ => None,
    }
}

/// Where the numbers of a row stand.
enum Where {
    List(usize),
    Columns(Vec<usize>),
}

struct Layout {
    id: Option<usize>,
    values: Where,
    /// What was assumed, and columns that are not read although nobody said so.
    notes: Vec<String>,
}

/// The only one of these columns that has a different text in each row, and a note of it.
fn text_ids(
    file: &str,
    table: &Table,
    columns: Vec<usize>,
    options: &ReadOptions,
) -> Result<(Option<usize>, Option<String>), InputError> {
    if options.by_position {
        return Ok((None, None));
    }
    let texts = columns.into_iter().filter(|&c| columns::no_numbers(&table.sample, c));
    let columns: Vec<usize> = texts.collect();
    let cells = |&c: &usize| -> Vec<String> {
        table.sample.iter().map(|row| cell_text(row.cell(c)).unwrap_or_default()).collect()
    };
    let values: Vec<Vec<String>> = columns.iter().map(cells).collect();
    let mut lists = Vec::new();
    for (&column, values) in columns.iter().zip(&values) {
        lists.push(IdCandidate { name: &table.columns[column], values, texts: true });
    }
    match choose_ids(&lists, table.sample.len()) {
        IdChoice::None => Ok((None, None)),
        IdChoice::Known(at) => Ok((Some(columns[at]), None)),
        IdChoice::Assumed(at) => {
            Ok((Some(columns[at]), Some(format!("ids are taken from {:?}", lists[at].name))))
        }
        IdChoice::Unclear(places) => {
            let names: Vec<&str> = places.iter().map(|&at| lists[at].name).collect();
            Err(InputError::UnclearIds { file: file.to_owned(), found: listed(&names) })
        }
    }
}

fn layout(file: &str, table: &Table, options: &ReadOptions) -> Result<Layout, InputError> {
    let names = &table.columns;
    let id = columns::id(file, names, options.id.as_deref())?;
    if let Some(column) = list_column(file, table, options)? {
        if !options.skip.is_empty() {
            let (file, format) = (file.to_owned(), "a column of lists");
            return Err(InputError::Inapplicable { file, format, option: ReadOption::Skip });
        }
        let others = |id| (0..names.len()).filter(move |&c| c != column && Some(c) != id);
        let (id, note) = match id {
            Some(id) => (Some(id), None),
            None => text_ids(file, table, others(None).collect(), options)?,
        };
        let left_out: Vec<String> = others(id).map(|c| names[c].clone()).collect();
        let left_out =
            (!left_out.is_empty()).then(|| format!("columns left out: {}", listed(&left_out)));
        let notes = note.into_iter().chain(left_out).collect();
        return Ok(Layout { id, values: Where::List(column), notes });
    }
    let skipped: Vec<usize> = (options.skip.iter())
        .map(|name| columns::named(file, names, ReadOption::Skip, name))
        .collect::<Result<_, _>>()?;
    let skips = |c: &usize| skipped.contains(c) && !is_id_name(&names[*c]);
    let id = id.filter(|c| options.id.is_some() || !skips(c));
    // pandas writes its index as a first column without a name.
    let first = names.first().filter(|name| {
        !skipped.contains(&0) && (name.is_empty() || columns::no_numbers(&table.sample, 0))
    });
    let id = id.or(first.map(|_| 0));
    let values: Vec<usize> =
        (0..names.len()).filter(|c| Some(*c) != id && !skipped.contains(c)).collect();
    if let Some(&column) = values.iter().find(|&&c| columns::is_one_of(&names[c], &ANSWERS)) {
        return Err(InputError::Answer { file: file.to_owned(), column: names[column].clone() });
    }
    if values.is_empty() {
        let seen = format!("no column of numbers; the columns are {}", listed(names));
        return Err(InputError::Unknown { file: file.to_owned(), seen });
    }
    Ok(Layout { id, values: Where::Columns(values), notes: Vec::new() })
}

fn read(origin: &Origin, opened: Opened, options: &ReadOptions) -> Result<Inputs, InputError> {
    let Opened::Source(Source::Table(table)) = opened else {
        return Err(misplaced(origin, &opened));
    };
    let file = origin.name.as_str();
    let Layout { id, values: wanted, notes } = layout(file, &table, options)?;
    let names = table.columns.clone();
    let limit = options.limits.cells;
    let (mut ids, mut rows, mut values, mut width) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for row in table.rows(&options.limits) {
        let row = row?;
        let id = id.map(|column| cell_text(row.cell(column)).unwrap_or_default());
        let reader = RowReader { file, row: &row, id: id.as_deref() };
        let before = values.len();
        match &wanted {
            Where::List(column) => reader.list(&names[*column], *column, width, &mut values)?,
            Where::Columns(wanted) => {
                for &column in wanted {
                    values.push(reader.number(&names[column], row.cell(column))?);
                }
            }
        }
        width = values.len() - before;
        if values.len() as u64 > limit {
            let (file, what, found) = (file.to_owned(), "feature values", values.len() as u64);
            return Err(InputError::TooMany { file, what, found, limit });
        }
        rows.push(row.number);
        ids.extend(id);
    }
    if values.is_empty() {
        return Err(InputError::Empty { file: file.to_owned(), shape: vec![0, width] });
    }
    let ids = check_ids(file, ids.iter().map(String::as_str), |at| format!("row {}", rows[at]))?;
    let ids = id.is_some().then_some(ids);
    let kind = Kind::Features(Features::new(file, width, values)?);
    let inputs = Inputs::new(file, ids, kind)?.noting(notes);
    match wanted {
        Where::List(_) => Ok(inputs),
        Where::Columns(places) => {
            inputs.with_columns(places.iter().map(|&place| names[place].clone()).collect())
        }
    }
}

/// One row, and how it is named in messages.
struct RowReader<'a> {
    file: &'a str,
    row: &'a Row,
    id: Option<&'a str>,
}

impl RowReader<'_> {
    fn place(&self) -> String {
        place(self.row.number, self.id)
    }

    fn number(&self, column: &str, cell: &Value) -> Result<f32, InputError> {
        let (file, place, column) = (self.file.to_owned(), || self.place(), column.to_owned());
        match columns::number(cell) {
            Some(value) if (value as f32).is_finite() => Ok(value as f32),
            Some(value) => Err(InputError::NotFinite { file, place: place(), column, value }),
            None => {
                let text = shorten(&cell_text(cell).unwrap_or_default());
                Err(InputError::NotANumber { file, place: place(), column, text })
            }
        }
    }

    /// Adds the numbers of a list, `width` of them where that is known.
    fn list(
        &self,
        name: &str,
        column: usize,
        width: usize,
        values: &mut Vec<f32>,
    ) -> Result<(), InputError> {
        let cell = self.row.cell(column);
        let found = list(cell);
        let fits = |list: &Vec<Value>| !list.is_empty() && (width == 0 || list.len() == width);
        let Some(list) = found.as_ref().filter(|list| fits(list)) else {
            return Err(InputError::NotAList {
                file: self.file.to_owned(),
                place: self.place(),
                column: name.to_owned(),
                expected: match width {
                    0 => "a list of numbers".to_owned(),
                    width => format!("a list of {width} numbers, as in the rows before"),
                },
                text: match &found {
                    Some(list) => format!("a list of {}", list.len()),
                    None => shorten(&cell.to_string()),
                },
            });
        };
        for (at, cell) in list.iter().enumerate() {
            values.push(self.number(&format!("{name}[{at}]"), cell)?);
        }
        Ok(())
    }
}
