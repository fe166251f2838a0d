//! From a file to predictions: open, detect and read.

use std::path::Path;

use dissensus_io::{
    Input, Problem, ReadError, ReadOption, Row, Source, SourceOptions, Table, TableKind, cell_text,
    json,
};

use dissensus_core::VoteTable;
use serde_json::Value;

use crate::cells;
use crate::context::Context;
use crate::error::{PredictionError, PredictionProblem};
use crate::formats::FORMATS;
use crate::label_names;
use crate::options::ReadOptions;
use crate::predictions::{Predictions, RawPredictions, check_options, finish, name_classes};
use crate::rows_of_json::rows_of_json;

/// Reads a file, or standard input for `-`.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Vec<Predictions>, PredictionError> {
    read_input(Input::open(path)?, &Context::new(options, None))
}

/// Reads a file of predictions for these votes, whose ids and classes say more about its columns than
/// their names.
pub fn read_for(
    path: &Path,
    votes: &VoteTable,
    options: &ReadOptions,
) -> Result<Vec<Predictions>, PredictionError> {
    read_input(Input::open(path)?, &Context::new(options, Some(votes)))
}

/// Reads bytes in memory under a name for messages.
pub fn read_bytes(
    name: &str,
    bytes: Vec<u8>,
    options: &ReadOptions,
) -> Result<Vec<Predictions>, PredictionError> {
    read_input(Input::from_bytes(name, bytes)?, &Context::new(options, None))
}

/// Reads bytes in memory as [`read_for`] reads a file.
pub fn read_bytes_for(
    name: &str,
    bytes: Vec<u8>,
    votes: &VoteTable,
    options: &ReadOptions,
) -> Result<Vec<Predictions>, PredictionError> {
    read_input(Input::from_bytes(name, bytes)?, &Context::new(options, Some(votes)))
}

fn read_input(input: Input, options: &Context<'_>) -> Result<Vec<Predictions>, PredictionError> {
    let file = input.name.clone();
    let table_of = |value| match json::array_as_table(rows_of_json(value)) {
        Ok(table) => Source::Table(table),
        Err(value) => Source::Json(value),
    };
    let mut beside = None;
    let source = match with_header(&file, Source::open(input, &options.source())?, options)? {
        // An array of objects is a table.
        Source::Json(value) => {
            beside = label_names::in_settings(&value);
            table_of(value)
        }
        Source::Table(table) => {
            if let ([row], TableKind::JsonLines) = (&table.sample[..], table.kind) {
                let cells = table.columns.iter().cloned().zip(row.cells.iter().cloned());
                beside = label_names::in_settings(&Value::Object(cells.collect()));
            }
            match document(&table) {
                Some(document) => table_of(document),
                None => Source::Table(table),
            }
        }
        source => source,
    };
    let source = match source {
        Source::Table(table) => Source::Table(cells::split(&file, table, options)?),
        source => source,
    };
    let Some(format) = FORMATS.iter().find(|format| (format.detect)(&source, options)) else {
        let seen = source.describe();
        return Err(PredictionError::new(&file, PredictionProblem::Unknown { seen }));
    };
    check_options(&file, options.options())?;
    if let Some(option) = options.given().into_iter().find(|o| !format.options.contains(o)) {
        let problem = PredictionProblem::Inapplicable { format: format.name, option };
        return Err(PredictionError::new(&file, problem));
    }
    let found = (format.read)(&file, source, options)?;
    if found.is_empty() {
        return Err(PredictionError::new(&file, PredictionProblem::Empty));
    }
    let finish = |mut found: RawPredictions| {
        name_classes(&file, &mut found, beside.as_deref(), options)?;
        finish(&file, found, options)
    };
    found.into_iter().map(finish).collect()
}

/// A document on one line, which looks like JSON Lines of one row, where it is a table in another shape.
fn document(table: &Table) -> Option<Value> {
    let [row] = &table.sample[..] else { return None };
    if table.kind != TableKind::JsonLines {
        return None;
    }
    let cells = table.columns.iter().cloned().zip(row.cells.iter().cloned());
    let rows = rows_of_json(Value::Object(cells.collect()));
    rows.is_array().then_some(rows)
}

/// A first row of an id and fractions is no header; one that names the classes of the votes is one, and
/// so is the name of an id with different whole numbers behind it.
fn with_header(file: &str, source: Source, options: &Context<'_>) -> Result<Source, ReadError> {
    let Source::Table(table) = source else { return Ok(source) };
    let TableKind::Delimited(dialect) = table.kind else { return Ok(Source::Table(table)) };
    let is_fraction = |name: &String| name.contains('.') && name.parse::<f64>().is_ok();
    let first: Vec<String> = match table.sample.first() {
        Some(row) => row.cells.iter().filter_map(cell_text).collect(),
        None => Vec::new(),
    };
    let header = match dialect.header {
        true => {
            !table.columns.iter().any(is_fraction)
                || named_by(&table.columns, &table.sample, options)
        }
        false => {
            let below = table.sample.get(1..).unwrap_or_default();
            named_by(&first, below, options) || is_numbered_header(&first, below)
        }
    };
    if options.header.is_some() || header == dialect.header {
        return Ok(Source::Table(table));
    }
    let options = SourceOptions { header: Some(header), ..options.source() };
    match table.into_input() {
        Some(input) => Source::open(input, &options),
        None => Err(ReadError::new(file, Problem::Empty)),
    }
}

/// Whether a row, above these rows, names every class of the votes once, and something else.
fn named_by(cells: &[String], below: &[Row], options: &Context<'_>) -> bool {
    let Some(classes) = options.classes() else { return false };
    let names: Vec<String> = cells.iter().map(|cell| crate::classes::plain(cell)).collect();
    let once = |class: &String| {
        let class = crate::classes::plain(class);
        names.iter().filter(|name| **name == class).count() == 1
    };
    let others = cells.len() > classes.len() || has_fractions(below, 0);
    others && classes.iter().all(once) && !cells.iter().any(|cell| cell.contains('.'))
}

/// Whether every row has a fraction behind so many cells.
fn has_fractions(rows: &[Row], behind: usize) -> bool {
    let fraction = |cell: &Value| cell.as_str().is_some_and(|text| text.contains('.'));
    !rows.is_empty() && rows.iter().all(|row| row.cells.iter().skip(behind).any(fraction))
}

/// Whether a row is the name of an id, different whole numbers and other words, above rows with fractions
/// under the numbers.
fn is_numbered_header(cells: &[String], below: &[Row]) -> bool {
    let number = |cell: &String| cell.trim().parse::<i64>().ok();
    let numbers: Vec<usize> = (0..cells.len()).filter(|&c| number(&cells[c]).is_some()).collect();
    let mut seen = std::collections::HashSet::new();
    let different = numbers.iter().all(|&c| seen.insert(number(&cells[c])));
    let others = || cells.iter().filter(|cell| number(cell).is_none());
    let words = others().all(|cell| cell.trim().is_empty() || cell.parse::<f64>().is_err());
    let is_id = others().any(|cell| dissensus_core::id_name_rank(cell).is_some());
    let fraction = |row: &Row| {
        numbers.iter().any(|&c| row.cell(c).as_str().is_some_and(|text| text.contains('.')))
    };
    different
        && words
        && is_id
        && numbers.len() > 1
        && !below.is_empty()
        && below.iter().all(fraction)
}

/// A column or array by the name that the user gave: its name, or `#2` for the second.
pub(crate) fn named(
    file: &str,
    option: ReadOption,
    name: &str,
    known: &[String],
) -> Result<usize, PredictionError> {
    let number = || name.strip_prefix('#')?.parse::<usize>().ok()?.checked_sub(1);
    let by_name = known.iter().position(|column| column == name);
    by_name.or_else(|| number().filter(|&at| at < known.len())).ok_or_else(|| {
        let (name, known) = (name.to_owned(), known.join(", "));
        PredictionError::new(file, PredictionProblem::NoSuch { option, name, known })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;
    use crate::predictions::stem;

    #[test]
    fn a_name_says_what_numbers_are() {
        let read = |key: &str| {
            let text = format!("{{\"id\": \"a\", \"{key}\": [0.4, 0.9]}}\n");
            read_bytes("x", text.into(), &ReadOptions::default()).map(|found| found[0].kind)
        };
        assert_eq!(read("logits").unwrap(), Kind::Logits);
        assert!(matches!(read("probs").unwrap_err().problem, PredictionProblem::Rows { .. }));
        assert!(matches!(
            read("scores").unwrap_err().problem,
            PredictionProblem::NotSumming { .. }
        ));
        assert_eq!(stem("a/b/soft.seed1.npy"), "soft");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_row_in_the_file() {
        let read = |text: &str, kind| {
            let options = ReadOptions { kind, ..ReadOptions::default() };
            read_bytes("x.csv", text.into(), &options).err().unwrap().to_string()
        };
        let text = "id,cat,dog\na,0.5,0.5\nb,inf,0\n";
        let wanted = "x.csv, row 3, column \"cat\", item \"b\": inf is not a finite number";
        assert_eq!(read(text, None), wanted);
        let text = "id,cat,dog\na,0.5,0.5\nb,0.5,0.1\n";
        let error = read(text, Some(Kind::Probabilities));
        let wanted = "x.csv: the numbers of 1 of 2 rows are not probabilities: row 3 (item \"b\") \
                      sums to 0.6, not 1";
        assert_eq!(error, wanted);
        let text = "id,cat,dog\na,0.5,0.5\na,0.5,0.5\n";
        let wanted = "x.csv, row 3: the item \"a\" is predicted twice: it is in row 2 already";
        assert_eq!(read(text, None), wanted);
    }
}
