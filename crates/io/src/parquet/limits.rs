//! What a Parquet file may ask for, checked before the `parquet` crate reads any of it.
//!
//! A hundred bytes can claim a table of 2⁶³ rows, a schema nested a hundred thousand levels deep,
//! pages that unpack to gigabytes, or a dictionary of 2³¹ texts. [`footer`] bounds the schema;
//! [`pages`] goes from page to page of every column and bounds what each unpacks to and how many
//! values it stands for, and sees to it that all columns have the rows that the file claims.

use std::io::{self, Read};

use parquet::basic::Compression;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

use super::thrift::{self, Event, Malformed};
use crate::error::Problem;
use crate::options::Limits;

/// Levels of groups in groups, elements of a schema, row groups, and digits of a number: more than
/// any table of votes has.
const DEEPEST: usize = 16;
const MOST_COLUMNS: usize = 1 << 16;
const MOST_GROUPS: usize = 1 << 20;
const MOST_DIGITS: i32 = 76;
/// A row of a repeated column is put together in memory, so of those fewer values are allowed.
const REPEATED: u64 = 32;

fn bad<T>(message: &str) -> Result<T, Problem> {
    Err(Problem::Parquet(message.to_owned()))
}

/// Checks the metadata at the end of a file.
pub(super) fn footer(bytes: &[u8]) -> Result<(), Problem> {
    let length = match bytes {
        [.., a, b, c, d, b'P', b'A', b'R', b'1'] => u32::from_le_bytes([*a, *b, *c, *d]) as usize,
        _ => return bad("it does not end in PAR1"),
    };
    let Some(start) = (bytes.len() - 8).checked_sub(length) else {
        return bad("its metadata is longer than the file");
    };
    let mut groups = 0;
    let mut children: Vec<i64> = Vec::new();
    let mut visit = |path: &[i16], event: Event| match (path, event) {
        ([2], Event::Begin) => children.push(0),
        ([4], Event::Begin) => groups += 1,
        ([2, 5], Event::Int(n)) => {
            if let Some(last) = children.last_mut() {
                *last = i64::from(n as i32);
            }
        }
        _ => {}
    };
    if let Err(Malformed) = thrift::walk(&bytes[start..bytes.len() - 8], thrift::FILE, &mut visit) {
        return bad("its metadata is malformed");
    }
    if children.len() > MOST_COLUMNS || groups > MOST_GROUPS {
        return bad("its metadata lists too much");
    }
    // How many children are still to come, on each level.
    let mut open: Vec<i64> = Vec::new();
    for count in children {
        if let Some(left) = open.last_mut() {
            *left -= 1;
        }
        if count > 0 {
            open.push(count);
        }
        if open.len() > DEEPEST {
            return bad("its columns are nested too deeply");
        }
        while open.last() == Some(&0) {
            open.pop();
        }
    }
    Ok(())
}

/// Checks every page of every column.
pub(super) fn pages(
    bytes: &[u8],
    metadata: &ParquetMetaData,
    limits: &Limits,
) -> Result<(), Problem> {
    let columns = metadata.file_metadata().schema_descr().columns();
    if columns.iter().any(|c| c.type_precision() > MOST_DIGITS || c.type_scale() > MOST_DIGITS) {
        return bad("numbers of too many digits");
    }
    let mut total = Totals::default();
    for group in metadata.row_groups() {
        let Ok(rows) = u64::try_from(group.num_rows()) else {
            return bad("a negative number of rows");
        };
        if rows > 0 && group.columns().is_empty() {
            return bad("rows without columns");
        }
        for column in group.columns() {
            let before = total.values;
            let repeated = column.column_descr().max_rep_level() > 0;
            chunk(bytes, column, limits, &mut total)?;
            let values = total.values - before;
            if values < rows || (values > rows && !repeated) {
                return bad("a column with another number of values than there are rows");
            }
            let limit = limits.cells / if repeated { REPEATED } else { 1 };
            if values > limit || total.values > limits.cells {
                return Err(Problem::TooMany { what: "values in the table", limit });
            }
        }
    }
    Ok(())
}

/// What all pages together come to.
#[derive(Default)]
struct Totals {
    values: u64,
    bytes: u64,
}

/// A page's header, as far as it matters.
#[derive(Default)]
struct Page {
    kind: i32,
    unpacked: i32,
    packed: i32,
    values: i32,
    encoding: i32,
    levels: i64,
    not_packed: bool,
}

const DICTIONARY: i32 = 2;

impl Page {
    fn read(bytes: &[u8]) -> Result<(Self, usize), Problem> {
        let mut page = Self::default();
        let mut visit = |path: &[i16], event: Event| {
            let Event::Int(value) = event else {
                return;
            };
            // As the crate does, which takes the lower half of a longer number.
            let int = value as i32;
            match path {
                [1] => page.kind = int,
                [2] => page.unpacked = int,
                [3] => page.packed = int,
                [5 | 7 | 8, 1] => page.values = int,
                [5, 2] | [8, 4] => page.encoding = int,
                [8, 5 | 6] => page.levels += i64::from(int),
                [8, 7] => page.not_packed = value == 0,
                _ => {}
            }
        };
        match thrift::walk(bytes, thrift::PAGE, &mut visit) {
            Ok(length) => Ok((page, length)),
            Err(Malformed) => bad("a malformed page"),
        }
    }
}

/// Checks the pages of one column in one row group.
fn chunk(
    bytes: &[u8],
    column: &ColumnChunkMetaData,
    limits: &Limits,
    total: &mut Totals,
) -> Result<(), Problem> {
    let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
    let range = usize::try_from(start).ok().zip(usize::try_from(column.compressed_size()).ok());
    let chunk = range.and_then(|(at, length)| bytes.get(at..at.checked_add(length)?));
    let Some(mut rest) = chunk else {
        return bad("a column outside the file");
    };
    while !rest.is_empty() {
        let (page, length) = Page::read(rest)?;
        let body = usize::try_from(page.packed).ok().and_then(|n| rest[length..].get(..n));
        let (Some(body), Ok(unpacked)) = (body, u64::try_from(page.unpacked)) else {
            return bad("a page outside its column");
        };
        let Ok(values) = u64::try_from(page.values) else {
            return bad("a negative number of values");
        };
        total.bytes = total.bytes.saturating_add(unpacked);
        if total.bytes > limits.document {
            let limit = limits.document;
            return Err(Problem::TooLarge { what: "the table, unpacked,", limit });
        }
        match (page.kind, page.encoding) {
            (DICTIONARY, _) if values > unpacked => return bad("a dictionary without values"),
            (DICTIONARY, _) => {}
            // Their lengths stand inside the packed page, and would be believed.
            (_, 6 | 7) => {
                return bad("texts in a delta encoding, which is not read: write them plain");
            }
            _ => total.values += values,
        }
        unpacks_to(column.compression(), &page, body, unpacked)?;
        rest = &rest[length + body.len()..];
    }
    Ok(())
}

/// Checks that a page unpacks to what its header says, where the crate would unpack it to the end.
fn unpacks_to(codec: Compression, page: &Page, body: &[u8], unpacked: u64) -> Result<(), Problem> {
    if page.not_packed || !matches!(codec, Compression::GZIP(_) | Compression::BROTLI(_)) {
        return Ok(());
    }
    // The levels of a page of the second version are never packed.
    let levels = usize::try_from(page.levels).ok().and_then(|n| Some((body.get(n..)?, n as u64)));
    let Some((body, expected)) =
        levels.and_then(|(body, n)| Some((body, unpacked.checked_sub(n)?)))
    else {
        return bad("a page shorter than its levels");
    };
    let reader: Box<dyn Read + '_> = match codec {
        Compression::GZIP(_) => Box::new(flate2::read::MultiGzDecoder::new(body)),
        _ => Box::new(brotli::Decompressor::new(body, 4096)),
    };
    // Other errors are the crate's to report, when it comes to this page.
    let length = io::copy(&mut reader.take(expected + 1), &mut io::sink());
    if length.is_ok_and(|length| length > expected) {
        return bad("a page that unpacks to more than it says");
    }
    Ok(())
}
