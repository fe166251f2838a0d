//! Parquet tables, row by row, nested columns included.
//!
//! The `parquet` crate is asked without its Arrow side: votes are a few plain columns, and the
//! smaller dependency builds in a fraction of the time. It believes what a file claims; so the
//! claims are checked before it is asked (`limits`, `thrift`). A malformed file can still make it
//! panic; such a panic is caught and becomes the same named error as any other malformed file.

mod limits;
mod thrift;

use std::cell::Cell;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::file::properties::ReaderProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::serialized_reader::ReadOptionsBuilder;
use parquet::record::Field;
use parquet::record::reader::RowIter;
use serde_json::Value;

use crate::error::{Problem, ReadError, shorten};
use crate::options::Limits;
use crate::table::{Body, Row, Rows};
use crate::table::{Table, TableKind};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is inside a foreign reader whose panics are caught. A panic hook can ask,
/// and stay silent.
pub fn is_guarded() -> bool {
    GUARDED.with(Cell::get)
}

/// Runs a foreign reader; a panic in it becomes an error.
fn guarded<T>(read: impl FnOnce() -> T) -> Result<T, String> {
    GUARDED.with(|flag| flag.set(true));
    let result = catch_unwind(AssertUnwindSafe(read));
    GUARDED.with(|flag| flag.set(false));
    result.map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        format!("malformed ({})", shorten(text.unwrap_or("unreadable")))
    })
}

/// The bytes of a Parquet file and its name.
pub struct Bytes {
    name: String,
    bytes: bytes::Bytes,
    limit: u64,
}

fn fail(name: &str, message: impl Into<String>) -> ReadError {
    ReadError::new(name, Problem::Parquet(message.into()))
}

/// Opens a table: its columns and first rows.
pub fn open(name: &str, bytes: Vec<u8>, limits: &Limits) -> Result<Table, ReadError> {
    const SAMPLE: usize = 200;
    limits::footer(&bytes).map_err(|problem| ReadError::new(name, problem))?;
    let body = Bytes { name: name.to_owned(), bytes: bytes.into(), limit: limits.document };
    let reader = file_reader(&body)?;
    guarded(|| limits::pages(&body.bytes, reader.metadata(), limits))
        .map_err(|panic| fail(name, panic))?
        .map_err(|problem| ReadError::new(name, problem))?;
    let columns: Vec<String> = guarded(|| {
        let schema = reader.metadata().file_metadata().schema();
        schema.get_fields().iter().map(|field| field.name().to_owned()).collect()
    })
    .map_err(|e| fail(name, e))?;
    let mut seen = HashSet::new();
    if let Some(twice) = columns.iter().find(|column| !seen.insert(column.as_str())) {
        return Err(ReadError::new(name, Problem::DuplicateColumn { name: twice.clone() }));
    }
    let copy = Bytes { name: name.to_owned(), bytes: body.bytes.clone(), limit: body.limit };
    // A bad row is reported when the rows are read.
    let sample = rows(copy, &columns).take(SAMPLE).map_while(Result::ok).collect();
    Ok(Table { kind: TableKind::Parquet, columns, sample, body: Body::Parquet(body) })
}

/// The value of a key in the file's own metadata.
pub fn metadata(body: &Bytes, key: &str) -> Option<String> {
    let reader = file_reader(body).ok()?;
    let entries = reader.metadata().file_metadata().key_value_metadata()?;
    entries.iter().find(|entry| entry.key == key)?.value.clone()
}

fn file_reader(body: &Bytes) -> Result<SerializedFileReader<bytes::Bytes>, ReadError> {
    let reader = guarded(|| {
        // Pages in the old LZ4 frames are unpacked to the end, whatever they say.
        let properties = ReaderProperties::builder().set_backward_compatible_lz4(false).build();
        let options = ReadOptionsBuilder::new().with_reader_properties(properties).build();
        SerializedFileReader::new_with_options(body.bytes.clone(), options)
    });
    match reader {
        Ok(Ok(reader)) => Ok(reader),
        Ok(Err(error)) => Err(fail(&body.name, error.to_string())),
        Err(panic) => Err(fail(&body.name, panic)),
    }
}

/// The rows of the table.
pub fn rows(body: Bytes, columns: &[String]) -> Rows {
    let reader = match file_reader(&body) {
        Ok(reader) => reader,
        Err(error) => return Box::new(std::iter::once(Err(error))),
    };
    let Bytes { name, limit, .. } = body;
    let width = columns.len();
    let mut iterator = match guarded(|| RowIter::from_file_into(Box::new(reader))) {
        Ok(iterator) => Some(iterator),
        Err(panic) => return Box::new(std::iter::once(Err(fail(&name, panic)))),
    };
    let mut number = 0;
    // One text in a dictionary may stand in every row.
    let mut left = limit;
    Box::new(std::iter::from_fn(move || {
        number += 1;
        let next = guarded(|| {
            let row = iterator.as_mut()?.next()?;
            Some(row.map(|row| {
                let fields = row.get_column_iter();
                fields.map(|(_, field)| value(field, true, &mut left)).collect::<Option<Vec<_>>>()
            }))
        });
        let problem = match next {
            Ok(None) => return None,
            Ok(Some(Ok(Some(cells)))) if cells.len() == width => {
                return Some(Ok(Row { number, cells }));
            }
            Ok(Some(Ok(Some(_)))) => Problem::Parquet("a row of other columns".to_owned()),
            Ok(Some(Ok(None))) => Problem::TooLarge { what: "the table, unpacked,", limit },
            Ok(Some(Err(error))) => Problem::Parquet(error.to_string()),
            Err(panic) => Problem::Parquet(panic),
        };
        iterator = None;
        Some(Err(ReadError::new(&name, problem).row(number)))
    }))
}

/// A value as the other tables have it; `None` where its texts take more than what is left.
fn value(field: &Field, top: bool, left: &mut u64) -> Option<Value> {
    // NaN is pandas' way to leave a cell empty; an infinity is none, and has no place in JSON.
    let infinite = match field {
        Field::Float(v) if v.is_infinite() => Some(v.to_string()),
        Field::Double(v) if v.is_infinite() => Some(v.to_string()),
        Field::Float16(v) if v.is_infinite() => Some(v.to_string()),
        _ => None,
    };
    if let (true, Some(text)) = (top, infinite) {
        return Some(Value::String(text));
    }
    Some(match field {
        Field::Group(row) => {
            let fields = row.get_column_iter();
            let pair = |(name, field)| Some((String::clone(name), value(field, false, left)?));
            Value::Object(fields.map(pair).collect::<Option<_>>()?)
        }
        Field::ListInternal(list) => {
            let values = list.elements().iter().map(|field| value(field, false, left));
            Value::Array(values.collect::<Option<_>>()?)
        }
        plain => {
            let value = plain.to_json_value();
            if let Value::String(text) = &value {
                *left = left.checked_sub(text.len() as u64)?;
            }
            value
        }
    })
}
