//! Parquet tables, row by row, nested columns included.
//!
//! The `parquet` crate is asked without its Arrow side: votes are a few plain columns, and the
//! smaller dependency builds in a fraction of the time. A malformed file can make it panic; such
//! a panic is caught and becomes the same named error as any other malformed file.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub use parquet::data_type::AsBytes as _;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::reader::RowIter;
use serde_json::Value;

use super::table::{Body, Row, Rows};
use super::{Table, TableKind};
use crate::error::{Problem, ReadError, shorten};

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
}

fn fail(name: &str, message: impl Into<String>) -> ReadError {
    ReadError::new(name, Problem::Parquet(message.into()))
}

/// Opens a table: its columns and first rows.
pub fn open(name: &str, bytes: Vec<u8>) -> Result<Table, ReadError> {
    const SAMPLE: usize = 200;
    let body = Bytes { name: name.to_owned(), bytes: bytes.into() };
    let reader = file_reader(&body)?;
    let columns: Vec<String> = guarded(|| {
        let schema = reader.metadata().file_metadata().schema();
        schema.get_fields().iter().map(|field| field.name().to_owned()).collect()
    })
    .map_err(|e| fail(name, e))?;
    let copy = Bytes { name: name.to_owned(), bytes: body.bytes.clone() };
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
    match guarded(|| SerializedFileReader::new(body.bytes.clone())) {
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
    let name = body.name;
    let columns = columns.to_vec();
    let mut iterator = match guarded(|| RowIter::from_file_into(Box::new(reader))) {
        Ok(iterator) => Some(iterator),
        Err(panic) => return Box::new(std::iter::once(Err(fail(&name, panic)))),
    };
    let mut number = 0;
    Box::new(std::iter::from_fn(move || {
        number += 1;
        let next = guarded(|| iterator.as_mut()?.next());
        let error = match next {
            Ok(None) => return None,
            Ok(Some(Ok(row))) => match guarded(|| row.to_json_value()) {
                Ok(Value::Object(mut map)) => {
                    let take = |c| map.get_mut(c).map_or(Value::Null, Value::take);
                    return Some(Ok(Row { number, cells: columns.iter().map(take).collect() }));
                }
                Ok(_) => "a row that is no group".to_owned(),
                Err(panic) => panic,
            },
            Ok(Some(Err(error))) => error.to_string(),
            Err(panic) => panic,
        };
        iterator = None;
        Some(Err(fail(&name, error).row(number)))
    }))
}
