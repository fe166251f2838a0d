//! CSV, TSV and their like: the dialect is told from the first lines; quoted fields may hold
//! delimiters, quotes and line breaks.

use std::collections::HashSet;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

use crate::error::{Problem, ReadError, shorten};
use crate::foreign;
use crate::input::{HEAD, Input};
use crate::json::without_bom;
use crate::options::SourceOptions;
use crate::table::{Body, Row, Rows};
use crate::table::{Table, TableKind};

/// How cells and rows are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The byte between cells.
    pub delimiter: u8,
    /// Whether the first row names the columns.
    pub header: bool,
    /// Rows that stand before the table: titles, comments, the delimiter.
    pub before: u64,
}

/// Delimiters that are tried, the commonest first.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];
/// Rows that are looked at.
const SAMPLE: usize = 200;

/// Opens a table.
pub fn open(input: Input, options: &SourceOptions) -> Result<Table, ReadError> {
    let name = input.name.clone();
    let spaced = match options.delimiter {
        Some(delimiter) => delimiter.0 == b' ',
        None => is_spaced(without_bom(&input.head), input.whole),
    };
    let mut input = if spaced { one_space(input)? } else { input };
    let Preface { bytes, rows: before, delimiter: stated } = if options.header == Some(false) {
        Preface::default()
    } else {
        preface(without_bom(&input.head), options)
    };
    if bytes > 0 {
        let bom = input.head.len() - without_bom(&input.head).len();
        input.head.drain(..bom + bytes);
    }
    let stated = options.delimiter.map(|delimiter| delimiter.0).or(stated);
    let body = without_bom(&input.head);
    if memchr::memchr(0, body).is_some() {
        let seen = "binary data that is no numpy, zip or Parquet file".to_owned();
        return Err(ReadError::new(name, Problem::UnknownFormat { seen }));
    }
    // An incomplete last line would look ragged.
    let complete = match (input.whole, memchr::memrchr(b'\n', body)) {
        (false, Some(end)) => &body[..end],
        (false, None) => {
            let problem = Problem::TooLarge { what: "the first line", limit: HEAD as u64 };
            return Err(ReadError::new(name, problem).row(1));
        }
        (true, _) => body,
    };
    let delimiter = match stated {
        _ if spaced => b' ',
        Some(delimiter) => delimiter,
        None => match guess_delimiter(complete) {
            Some(delimiter) => delimiter,
            None => match foreign::without_cells(complete) {
                Some(problem) if options.header.is_none() => {
                    return Err(ReadError::new(name, problem));
                }
                _ => DELIMITERS[0],
            },
        },
    };
    let mut first = sample(complete, delimiter);
    let two = second_header(&first, complete, delimiter).filter(|_| options.header.is_none());
    let before = before + u64::from(two.is_some());
    if let Some((names, bytes)) = two {
        let bom = input.head.len() - without_bom(&input.head).len();
        input.head.drain(..bom + bytes);
        first.remove(0);
        first[0] = names;
    }
    let Some(head) = first.first() else {
        return Err(ReadError::new(name, Problem::Empty));
    };
    let header = options.header.unwrap_or_else(|| looks_like_header(head, &first[1..]));
    if header && head.len() > 1 && head.iter().all(|cell| in_single_quotes(cell)) {
        let what = "the cells stand in single quotes (')".to_owned();
        let remedy = Some("write the table with double quotes (\"), as CSV has them");
        return Err(ReadError::new(name, Problem::NotRead { what, remedy }).row(before + 1));
    }
    let columns: Vec<String> = if header {
        head.iter().map(|cell| cell.trim().to_owned()).collect()
    } else {
        (1..=head.len()).map(|i| format!("#{i}")).collect()
    };
    let mut seen = HashSet::new();
    if let Some(twice) = columns.iter().find(|c| !c.is_empty() && !seen.insert(c.as_str())) {
        let problem = Problem::DuplicateColumn { name: twice.clone() };
        return Err(ReadError::new(name, problem).row(1));
    }
    let sample = first
        .into_iter()
        .enumerate()
        .skip(usize::from(header))
        .map(|(i, cells)| Row {
            number: before + i as u64 + 1,
            cells: cells.into_iter().map(Value::String).collect(),
        })
        .collect();
    let kind = TableKind::Delimited(Dialect { delimiter, header, before });
    Ok(Table { kind, columns, sample, body: Body::Text(input) })
}

fn reader<R: Read>(source: R, delimiter: u8) -> csv::Reader<R> {
    csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(source)
}

/// The first rows, with text that is not UTF-8 replaced: it is reported when the row is read.
fn sample(body: &[u8], delimiter: u8) -> Vec<Vec<String>> {
    let text = |cell: &[u8]| String::from_utf8_lossy(cell).into_owned();
    reader(body, delimiter)
        .byte_records()
        .take(SAMPLE)
        .map_while(Result::ok)
        .map(|record| record.iter().map(text).collect())
        .collect()
}

/// The delimiter that gives the most cells, the same number in (nearly) every row; `None` where none does. The
/// header may name more columns than the rows have cells.
fn guess_delimiter(body: &[u8]) -> Option<u8> {
    let score = |delimiter: u8, header: bool| {
        let all = sample(body, delimiter);
        let rows = all.get(usize::from(!header)..).unwrap_or_default();
        let cells = rows.first().map_or(0, Vec::len);
        let alike = rows.iter().filter(|r| r.len() == cells).count();
        if cells > 1 && (header || rows.len() > 1) && alike * 10 >= rows.len() * 9 {
            cells
        } else {
            0
        }
    };
    let best = |header: bool| {
        let there = DELIMITERS.into_iter().filter(|&d| memchr::memchr(d, body).is_some());
        let mut best = (0, None);
        for delimiter in there {
            let score = score(delimiter, header);
            if score > best.0 {
                best = (score, Some(delimiter));
            }
        }
        best.1
    };
    best(true).or_else(|| best(false))
}

/// Whether cells stand between runs of spaces, as in matrices that programs print: no delimiter is
/// there, and every row has the same number of cells, most of them numbers.
fn is_spaced(body: &[u8], whole: bool) -> bool {
    if DELIMITERS.into_iter().any(|delimiter| memchr::memchr(delimiter, body).is_some()) {
        return false;
    }
    let Ok(text) = std::str::from_utf8(body) else {
        return false;
    };
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let mut rows: Vec<Vec<&str>> = lines
        .take(SAMPLE + 1)
        .map(|line| line.split(' ').filter(|c| !c.is_empty()).collect())
        .collect();
    if !whole {
        rows.pop();
    }
    let width = rows.last().map_or(0, Vec::len);
    let number = |cell: &&&str| cell.trim().parse::<f64>().is_ok();
    // Three short words in every line may be a table without a header; sentences are not.
    let table = |row: &Vec<&str>| row.len() == width && row.iter().any(|cell| number(&cell));
    let (first, rest) =
        rows.split_first().map_or((None, &[][..]), |(first, rest)| (Some(first), rest));
    width > 1
        && !rest.is_empty()
        && rest.iter().all(table)
        && first.is_some_and(|row| row.len() > 1)
}

/// The same source with one space where runs of spaces and tabs stood, and none around a row.
fn one_space(input: Input) -> Result<Input, ReadError> {
    let name = input.name.clone();
    let stream =
        OneSpace { inner: input.into_stream(), state: Gap::Start, buffer: Vec::new(), at: 0 };
    Input::from_reader(&name, Box::new(stream))
}

/// Where a stream of cells is.
enum Gap {
    /// At the start of a row.
    Start,
    /// In a cell.
    Cell,
    /// Behind a cell.
    Behind,
}

/// A stream with its runs of spaces made one.
struct OneSpace {
    inner: Box<dyn Read + Send>,
    state: Gap,
    buffer: Vec<u8>,
    at: usize,
}

impl Read for OneSpace {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.at == self.buffer.len() {
            let mut raw = [0; 1 << 14];
            let n = self.inner.read(&mut raw)?;
            if n == 0 {
                return Ok(0);
            }
            self.buffer.clear();
            self.at = 0;
            for &byte in &raw[..n] {
                match (byte, &self.state) {
                    (b' ' | b'\t', Gap::Cell) => self.state = Gap::Behind,
                    (b' ' | b'\t', _) => {}
                    (b'\n' | b'\r', _) => {
                        self.state = Gap::Start;
                        self.buffer.push(byte);
                    }
                    (_, state) => {
                        if matches!(state, Gap::Behind) {
                            self.buffer.push(b' ');
                        }
                        self.state = Gap::Cell;
                        self.buffer.push(byte);
                    }
                }
            }
        }
        let n = out.len().min(self.buffer.len() - self.at);
        out[..n].copy_from_slice(&self.buffer[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

/// What stands before a table.
#[derive(Default)]
struct Preface {
    bytes: usize,
    rows: u64,
    /// The delimiter, where it is stated (`sep=;`, as Excel writes it).
    delimiter: Option<u8>,
}

/// The delimiter, comments (`# …`) and titles (rows of one cell) that stand before a header.
fn preface(body: &[u8], options: &SourceOptions) -> Preface {
    const MOST: usize = 20;
    let end = memchr::memchr(b'\n', body).map_or(body.len(), |at| at + 1);
    let first = body[..end].trim_ascii();
    if let [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', delimiter] = first {
        return Preface { bytes: end, rows: 1, delimiter: Some(*delimiter) };
    }
    let stated = options.delimiter.map(|delimiter| delimiter.0);
    let comments =
        body.split_inclusive(|&b| b == b'\n').take(MOST).take_while(|line| line.starts_with(b"#"));
    let comments: Vec<&[u8]> = comments.collect();
    let bytes: usize = comments.iter().map(|line| line.len()).sum();
    if bytes > 0
        && let rest = &body[bytes..]
        && let Some(delimiter) = stated.or_else(|| guess_delimiter(rest))
    {
        let width = |line: &[u8]| sample(line, delimiter).first().map_or(0, Vec::len);
        let wanted = width(rest);
        // A header may begin with `#` itself; it has as many cells as the rows below.
        if wanted > 1 && comments.iter().all(|line| width(line) != wanted) {
            return Preface { bytes, rows: comments.len() as u64, delimiter: None };
        }
    }
    let Some(delimiter) = stated.or_else(|| guess_delimiter(body)) else {
        return Preface::default();
    };
    let records = reader(body, delimiter).into_byte_records().map_while(Result::ok).take(MOST);
    let filled = |record: &csv::ByteRecord| {
        record.iter().filter(|cell| !cell.trim_ascii().is_empty()).count()
    };
    for (rows, record) in (0..).zip(records) {
        let bytes = record.position().map_or(0, |position| position.byte() as usize);
        let titles = rows > 0 && filled(&record) > 1;
        if titles {
            let cells: Vec<String> =
                record.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect();
            let width = record.len();
            let rest: Vec<Vec<String>> = sample(&body[bytes..], delimiter).split_off(1);
            let table = !rest.is_empty() && rest.iter().all(|row| row.len() == width);
            return match table && looks_like_header(&cells, &rest) {
                true => Preface { bytes, rows, delimiter: None },
                false => Preface::default(),
            };
        }
        if filled(&record) > 1 {
            break;
        }
    }
    Preface::default()
}

/// The names of a table with two rows of headings (SurveyMonkey: questions, and below them their rows), and where
/// the second row begins.
fn second_header(
    first: &[Vec<String>],
    body: &[u8],
    delimiter: u8,
) -> Option<(Vec<String>, usize)> {
    let [questions, parts, ..] = first else { return None };
    let id: String = questions[0].chars().filter(char::is_ascii_alphabetic).collect();
    if !id.eq_ignore_ascii_case("respondentid")
        || !parts[0].trim().is_empty()
        || parts.len() != questions.len()
    {
        return None;
    }
    let mut question = String::new();
    let names = questions.iter().zip(parts).map(|(name, part)| {
        if !name.trim().is_empty() {
            question = name.trim().to_owned();
        }
        match part.trim() {
            "" | "Response" | "Open-Ended Response" => question.clone(),
            part => format!("{question} [{part}]"),
        }
    });
    let names = names.collect();
    let second = reader(body, delimiter).into_byte_records().map_while(Result::ok).nth(1)?;
    Some((names, second.position()?.byte() as usize))
}

fn in_single_quotes(cell: &str) -> bool {
    let cell = cell.trim();
    cell.len() > 2 && cell.starts_with('\'') && cell.ends_with('\'')
}

/// Whether the first row names the columns: there are no numbers in it and it names everything (a first column of row
/// numbers may be bare), or it has words where the other rows have numbers. Columns at the end that have neither a
/// name nor cells do not count.
fn looks_like_header(cells: &[String], rest: &[Vec<String>]) -> bool {
    let empty = |c: usize| {
        cells[c].trim().is_empty()
            && rest.iter().all(|row| row.get(c).is_none_or(|cell| cell.trim().is_empty()))
    };
    let width = (0..cells.len()).rev().find(|&c| !empty(c)).map_or(cells.len(), |last| last + 1);
    let cells = &cells[..width];
    let number = |cell: &String| cell.trim().parse::<f64>().is_ok();
    let named = cells.iter().skip(1).all(|cell| !cell.trim().is_empty());
    // Matrices may have numbered columns (0, 1, 2, …); then only the first cell is a word or empty.
    let numbers = cells.iter().filter(|cell| number(cell)).count();
    let whole = |cell: &String| cell.trim().parse::<i64>().ok();
    let numbered = cells.iter().skip(1).map_while(whole).collect::<Vec<i64>>();
    let in_order = numbered.len() == cells.len() - 1
        && numbered.len() > 1
        && numbered.windows(2).all(|pair| pair[1] == pair[0] + 1)
        && !cells[0].contains(|c: char| c.is_ascii_digit());
    // Classes that are numbers stand behind a name for ids, in any order.
    let classes: HashSet<i64> = numbered.iter().copied().collect();
    let of_classes = classes.len() > 1 && classes.len() == cells.len() - 1 && names_ids(&cells[0]);
    named && (numbers == 0 || in_order || of_classes || names_numbers(cells, rest))
}

/// Whether a column has a word in the first row and numbers in all others, and every name is there once.
fn names_numbers(cells: &[String], rest: &[Vec<String>]) -> bool {
    const ENOUGH: usize = 3;
    let is_word = |cell: &str| cell.chars().filter(|c| c.is_alphabetic()).count() > 1;
    let numbers = |c: usize| {
        let column = || rest.iter().filter_map(|row| row.get(c)).map(|cell| cell.trim());
        let filled = column().filter(|cell| !cell.is_empty());
        filled.clone().count() >= ENOUGH
            && filled.into_iter().all(|cell| cell.parse::<f64>().is_ok_and(f64::is_finite))
    };
    let own: HashSet<&str> = cells.iter().map(|cell| cell.trim()).collect();
    let missing = |cell: &str| {
        ["nan", "none", "null", "na", "inf"].contains(&cell.to_ascii_lowercase().as_str())
    };
    own.len() == cells.len()
        && (0..cells.len()).any(|c| {
            let cell = cells[c].trim();
            is_word(cell) && !missing(cell) && cell.parse::<f64>().is_err() && numbers(c)
        })
}

/// Whether a cell is a usual name for a column of ids.
fn names_ids(cell: &str) -> bool {
    let name: String = cell.chars().filter(char::is_ascii_alphabetic).collect();
    let name = name.to_ascii_lowercase();
    const NAMES: [&str; 10] =
        ["item", "index", "idx", "instance", "task", "image", "doc", "example", "sample", "key"];
    NAMES.contains(&name.as_str()) || (name.ends_with("id") && name.len() <= 12)
}

/// Lets through at most `limit` bytes a record: the consumer resets the counter after each.
struct Limited<R> {
    inner: R,
    since_record: Arc<AtomicU64>,
    quotes: Arc<AtomicU64>,
    limit: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        let seen = self.since_record.fetch_add(n as u64, Ordering::Relaxed) + n as u64;
        let quotes = memchr::memchr_iter(b'"', &buffer[..n]).count();
        self.quotes.fetch_add(quotes as u64, Ordering::Relaxed);
        if seen > self.limit {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "record too long"));
        }
        Ok(n)
    }
}

/// The rows of a table. A row with another number of cells than `width` is an error, and so are
/// text that is not UTF-8, a quote that is never closed, and a record of more than `limit` bytes.
pub fn rows(input: Input, dialect: Dialect, columns: &[String], limit: u64) -> Rows {
    let width = columns.len();
    let name = input.name.clone();
    let skip_bom = without_bom(&input.head).len() < input.head.len();
    let mut stream = input.into_stream();
    if skip_bom {
        let mut bom = [0; 3];
        if let Err(error) = stream.read_exact(&mut bom) {
            return Box::new(std::iter::once(Err(ReadError::new(name, error))));
        }
    }
    let records = Records::new(name, stream, dialect.delimiter, width, limit);
    let records =
        records.after(dialect.before).skip_header(dialect.header).allow_short(may_lack(columns));
    Box::new(records.map(|record| {
        record.map(|(number, cells)| Row {
            number,
            cells: cells.into_iter().map(Value::String).collect(),
        })
    }))
}

/// How many cells rows may lack at their end: the batches of Mechanical Turk name two columns, `Approve` and
/// `Reject`, that have no cells.
fn may_lack(columns: &[String]) -> usize {
    match columns {
        [.., approve, reject] if approve == "Approve" && reject == "Reject" => 2,
        _ => 0,
    }
}

/// Records of a delimited text, checked.
pub struct Records {
    name: String,
    reader: csv::Reader<Limited<Box<dyn Read + Send>>>,
    since_record: Arc<AtomicU64>,
    quotes: Arc<AtomicU64>,
    record: csv::ByteRecord,
    width: usize,
    number: u64,
    limit: u64,
    skip: bool,
    done: bool,
    short: usize,
}

impl Records {
    /// Reads records of `width` cells, numbered from 1.
    pub fn new(
        name: String,
        stream: Box<dyn Read + Send>,
        delimiter: u8,
        width: usize,
        limit: u64,
    ) -> Self {
        let since_record = Arc::new(AtomicU64::new(0));
        let quotes = Arc::new(AtomicU64::new(0));
        let limited = Limited {
            inner: stream,
            since_record: since_record.clone(),
            quotes: quotes.clone(),
            // The reader takes a buffer of several records at a time.
            limit: limit + (1 << 16),
        };
        let record = csv::ByteRecord::new();
        let reader = reader(limited, delimiter);
        let (number, skip, done, short) = (0, false, false, 0);
        Self { name, reader, since_record, quotes, record, width, number, limit, skip, done, short }
    }

    /// Numbers records as if so many stood before.
    pub fn after(mut self, records: u64) -> Self {
        self.number = records;
        self
    }

    /// Passes over the first record if it is a header.
    pub fn skip_header(mut self, header: bool) -> Self {
        self.skip = header;
        self
    }

    /// Lets rows lack so many cells at their end.
    pub fn allow_short(mut self, cells: usize) -> Self {
        self.short = cells;
        self
    }

    /// The next record in place: its number, or `None` at the end. Cells are UTF-8 afterwards.
    fn advance(&mut self) -> Option<Result<u64, ReadError>> {
        if self.done {
            return None;
        }
        let last_lines = self.record.iter().any(|cell| memchr::memchr(b'\n', cell).is_some());
        let last_width = self.record.len();
        let more = self.reader.read_byte_record(&mut self.record);
        self.since_record.store(0, Ordering::Relaxed);
        let error =
            |number: u64, problem: Problem| ReadError::new(self.name.clone(), problem).row(number);
        match more {
            Ok(true) => {}
            Ok(false) => {
                self.done = true;
                // The CSV grammar ends an open quote silently at the end of the file, swallowing
                // every row in between.
                let open = self.quotes.load(Ordering::Relaxed) % 2 == 1;
                if open && (last_lines || last_width != self.width) {
                    return Some(Err(error(self.number, Problem::OpenQuote)));
                }
                return None;
            }
            Err(bad) => {
                self.done = true;
                let problem = match bad.into_kind() {
                    csv::ErrorKind::Io(io) if io.kind() == io::ErrorKind::FileTooLarge => {
                        Problem::TooLarge { what: "the row", limit: self.limit }
                    }
                    csv::ErrorKind::Io(io) => Problem::Io(io),
                    other => Problem::Io(io::Error::other(format!("{other:?}"))),
                };
                return Some(Err(error(self.number + 1, problem)));
            }
        }
        self.number += 1;
        let number = self.number;
        // What a row may lack at its end is empty.
        while self.record.len() < self.width && self.record.len() + self.short >= self.width {
            self.record.push_field(b"");
        }
        if self.record.len() != self.width {
            let cells: Vec<_> = self.record.iter().map(String::from_utf8_lossy).collect();
            let text = shorten(&cells.join(","));
            let ragged = Problem::Ragged { text, expected: self.width, found: self.record.len() };
            // At the end of the file this may be what an open quote swallowed.
            let swallowed = self.record.iter().any(|cell| memchr::memchr(b'\n', cell).is_some());
            let open = swallowed && self.quotes.load(Ordering::Relaxed) % 2 == 1;
            let problem = if open { Problem::OpenQuote } else { ragged };
            return Some(Err(error(number, problem)));
        }
        for (i, cell) in self.record.iter().enumerate() {
            if let Err(bad) = std::str::from_utf8(cell) {
                let byte = cell.get(bad.valid_up_to()).copied().unwrap_or(0);
                let column = format!("#{}", i + 1);
                return Some(Err(error(number, Problem::Encoding { byte }).column(column)));
            }
        }
        Some(Ok(number))
    }

    /// The next record's number; its cells are at [`cell`](Self::cell) until the next call.
    pub fn step(&mut self) -> Option<Result<u64, ReadError>> {
        loop {
            let next = self.advance()?;
            if std::mem::take(&mut self.skip) && next.is_ok() {
                continue;
            }
            return Some(next);
        }
    }

    /// A cell of the current record.
    pub fn cell(&self, column: usize) -> &str {
        self.record.get(column).and_then(|cell| std::str::from_utf8(cell).ok()).unwrap_or("")
    }
}

impl Iterator for Records {
    type Item = Result<(u64, Vec<String>), ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.step()?;
        Some(
            step.map(|number| (number, (0..self.width).map(|i| self.cell(i).to_owned()).collect())),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;

    fn table(text: &str) -> Table {
        open(Input::from_bytes("x", text.into()).unwrap(), &SourceOptions::default()).unwrap()
    }

    fn errors(text: &str) -> Vec<String> {
        let rows = table(text).rows(&Limits::default());
        rows.filter_map(Result::err).map(|e| e.to_string()).collect()
    }

    #[test]
    fn dialects() {
        let cases = [
            ("a,b\n1,x\n", b',', true),
            ("a\tb\n1\tx, y\n", b'\t', true),
            ("a;b\n1;x\n", b';', true),
            ("1\t2\t3\r\n1\t3\t3\r\n", b'\t', false),
            ("\u{feff}a,b\n1,x\n", b',', true),
            (",0,1,2\nx,3,4,5\n", b',', true),
            ("1 2 1\n1 3 2\n", b' ', false),
            ("  0  1 -1\n 12  1  0 \n", b' ', false),
            ("worker item label\nw1 7 1\nw2 7 0\n", b' ', true),
            ("a sentence here\nand one more\n", b',', true),
        ];
        for (text, delimiter, header) in cases {
            assert_eq!(
                table(text).kind,
                TableKind::Delimited(Dialect { delimiter, header, before: 0 }),
                "{text}"
            );
        }
        assert_eq!(table("\u{feff}a,b\n1,x\n").columns, ["a", "b"]);
        let rows = table("  0  1 -1\n 12 1  0 \n").rows(&Limits::default());
        let cells: Vec<_> = rows.map(|row| row.unwrap().cells).collect();
        assert_eq!(cells, [["0", "1", "-1"], ["12", "1", "0"]]);
    }

    #[test]
    fn what_stands_before_a_header_is_passed_over() {
        for (text, columns) in [
            ("sep=;\na;b\n1;2\n", vec!["a", "b"]),
            ("# made by a tool\n# today\na,b\n1,2\n", vec!["a", "b"]),
            ("# a,b\n1,2\n", vec!["# a", "b"]),
            ("Export,,\n,,\na,b,c\n1,2,3\n", vec!["a", "b", "c"]),
            ("Export\na,b,c\n1,2,3\n", vec!["a", "b", "c"]),
            ("a,b,,\n1,x,,\n2,y,,\n", vec!["a", "b", "", ""]),
            ("item,label,0\n1,x,5\n2,x,5\n3,y,5\n", vec!["item", "label", "0"]),
            ("x,5,0\ny,2,1\nz,3,1\nw,3,1\n", vec!["#1", "#2", "#3"]),
            (
                "Respondent ID,When?,Rude?,\n,,A,B\n1,May,yes,no\n",
                vec!["Respondent ID", "When?", "Rude? [A]", "Rude? [B]"],
            ),
        ] {
            assert_eq!(table(text).columns, columns, "{text}");
        }
        let text = "sep=;\na;b\n1;2\n3;4;5\n";
        assert_eq!(table(text).sample[0].number, 3);
        assert_eq!(errors(text), ["x, row 4: 3 cells where 2 are expected: \"3,4,5\""]);
        let single = Input::from_bytes("x", "'a','b'\n'1','2'\n".into()).unwrap();
        let error = open(single, &SourceOptions::default()).err().unwrap();
        assert!(error.to_string().contains("single quotes"), "{error}");
    }

    #[test]
    fn quoted_line_breaks_are_one_row() {
        let rows: Vec<_> = table("a,b\n\"1\n2\",\"say \"\"x\"\"\"\n3,4\n")
            .rows(&Limits::default())
            .map(Result::unwrap)
            .collect();
        assert_eq!(rows[0].cells, ["1\n2", "say \"x\""]);
        assert_eq!((rows[0].number, rows[1].number), (2, 3));
    }

    #[test]
    fn bad_rows_are_named() {
        assert_eq!(
            errors("a,b\n1,2\n1,2,3\n"),
            ["x, row 3: 3 cells where 2 are expected: \"1,2,3\""]
        );
        assert_eq!(errors("a,b\n1,\"2\n3,4\n5,6\n"), ["x, row 2: a quoted field is not closed"]);
        assert_eq!(errors("a,b\n1,5\" nail\n3,4\n"), Vec::<String>::new());
        let latin = Input::from_bytes("x", b"a,b\n1,caf\xe9\n".to_vec()).unwrap();
        let table = open(latin, &SourceOptions::default()).unwrap();
        let error = table.rows(&Limits::default()).next().unwrap().unwrap_err();
        assert_eq!(error.to_string(), "x, row 2, column \"#2\": not UTF-8 text (byte 0xe9)");
    }

    #[test]
    fn a_first_line_without_end_is_named() {
        let text = format!("{}\n1\n", "column,".repeat(50_000));
        let input = Input::from_bytes("x", text.into()).unwrap();
        let error = open(input, &SourceOptions::default()).err().unwrap().to_string();
        assert_eq!(error, "x, row 1: the first line is larger than 262144 bytes");
    }

    #[test]
    fn a_record_has_a_limit() {
        let text = format!("a,b\n1,2\n1,{}\n", "y".repeat(300_000));
        let input = Input::from_bytes("x", text.into()).unwrap();
        let dialect = Dialect { delimiter: b',', header: true, before: 0 };
        let last = rows(input, dialect, &["a".to_owned(), "b".to_owned()], 100_000)
            .last()
            .unwrap()
            .unwrap_err();
        assert_eq!(last.to_string(), "x, row 3: the row is larger than 100000 bytes");
    }
}
