//! JSON documents and JSON Lines, read strictly: a key that appears twice in an object is an
//! error (most readers keep the last one and say nothing), and nesting is bounded.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read};

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::error::{Problem, ReadError, shorten};
use crate::input::Input;
use crate::options::SourceOptions;
use crate::source::Source;
use crate::table::{Body, Row, Rows};
use crate::table::{Table, TableKind};

/// A value whose objects have no key twice.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Strict;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_bool<E>(self, value: bool) -> Result<Strict, E> {
        Ok(Strict(value.into()))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Strict, E> {
        Ok(Strict(value.into()))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Strict, E> {
        Ok(Strict(value.into()))
    }
    fn visit_f64<E>(self, value: f64) -> Result<Strict, E> {
        Ok(Strict(value.into()))
    }
    fn visit_str<E>(self, value: &str) -> Result<Strict, E> {
        Ok(Strict(value.into()))
    }
    fn visit_string<E>(self, value: String) -> Result<Strict, E> {
        Ok(Strict(value.into()))
    }
    fn visit_unit<E>(self) -> Result<Strict, E> {
        Ok(Strict(Value::Null))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Strict, A::Error> {
        let mut list = Vec::new();
        while let Some(Strict(value)) = seq.next_element()? {
            list.push(value);
        }
        Ok(Strict(list.into()))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Strict, A::Error> {
        let mut map = Map::new();
        while let Some((key, Strict(value))) = entries.next_entry::<String, Strict>()? {
            if map.contains_key(&key) {
                return Err(A::Error::custom(format!("the key {:?} appears twice", shorten(&key))));
            }
            map.insert(key, value);
        }
        Ok(Strict(map.into()))
    }
}

/// Parses one value.
pub fn parse(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice::<Strict>(bytes).map(|strict| strict.0)
}

/// The bytes behind a UTF-8 byte-order mark.
pub fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

fn json_error(file: &str, error: &serde_json::Error) -> ReadError {
    ReadError::new(file, Problem::Json(error.to_string())).row(error.line() as u64)
}

/// Bytes of a JSON document at the most: parsed, it takes several times as much memory.
const MOST_DOCUMENT: u64 = 1 << 30;

/// Reads the whole source as one document.
pub fn open_document(input: Input, limit: u64) -> Result<Value, ReadError> {
    let name = input.name.clone();
    let bytes = input.into_bytes(limit.min(MOST_DOCUMENT))?;
    parse(without_bom(&bytes)).map_err(|e| json_error(&name, &e))
}

/// A source that begins with `{`: JSON Lines where the first line is a whole object and another
/// line follows, else one document.
pub fn open_object_or_lines(input: Input, options: &SourceOptions) -> Result<Source, ReadError> {
    let body = without_bom(&input.head);
    let line_end = memchr::memchr(b'\n', body);
    let first = &body[..line_end.unwrap_or(body.len())];
    let more = line_end.is_some_and(|end| body[end..].iter().any(|b| !b.is_ascii_whitespace()));
    let first_is_object = matches!(parse(first), Ok(Value::Object(_)));
    if first_is_object && (more || !input.whole) {
        return open_lines(input).map(Source::Table);
    }
    let forced_lines = first_is_object && looks_like_a_row(first);
    if forced_lines {
        open_lines(input).map(Source::Table)
    } else {
        open_document(input, options.limits.document).map(Source::Json)
    }
}

/// A single line can be a document or one row: a row has plain values, a document objects.
fn looks_like_a_row(line: &[u8]) -> bool {
    match parse(line) {
        Ok(Value::Object(map)) => map.values().any(|v| !v.is_object()),
        _ => false,
    }
}

/// The keys of rows in the order of their first appearance.
#[derive(Default)]
struct Columns {
    list: Vec<String>,
    seen: HashSet<String>,
}

impl Columns {
    fn add(&mut self, map: &Map<String, Value>) {
        for key in map.keys() {
            if self.seen.insert(key.clone()) {
                self.list.push(key.clone());
            }
        }
    }
}

/// Opens JSON Lines; the columns are the keys of the rows at the beginning, in order.
pub fn open_lines(input: Input) -> Result<Table, ReadError> {
    const SAMPLE: usize = 200;
    let mut columns = Columns::default();
    let mut maps = Vec::new();
    let body = without_bom(&input.head);
    let complete = match (input.whole, memchr::memrchr(b'\n', body)) {
        (false, Some(end)) => &body[..end],
        _ => body,
    };
    for (number, line) in complete.split(|&b| b == b'\n').enumerate().take(SAMPLE) {
        // A bad line is reported, with its number, when the rows are read.
        if let Ok(Value::Object(map)) = parse(line) {
            columns.add(&map);
            maps.push((number as u64 + 1, map));
        }
    }
    let columns = columns.list;
    let sample = maps.into_iter().map(|(number, map)| row(number, map, &columns)).collect();
    Ok(Table { kind: TableKind::JsonLines, columns, sample, body: Body::Text(input) })
}

/// An array of objects as a table; anything else is given back.
pub fn array_as_table(value: Value) -> Result<Table, Value> {
    const SAMPLE: usize = 200;
    match value {
        Value::Array(list) if !list.is_empty() && list.iter().all(Value::is_object) => {
            let mut columns = Columns::default();
            list.iter().take(SAMPLE).filter_map(Value::as_object).for_each(|map| columns.add(map));
            let columns = columns.list;
            let maps = list.into_iter().filter_map(|entry| match entry {
                Value::Object(map) => Some(map),
                _ => None,
            });
            let rows: Vec<Row> =
                (1..).zip(maps).map(|(number, map)| row(number, map, &columns)).collect();
            let sample = rows.iter().take(SAMPLE).cloned().collect();
            Ok(Table { kind: TableKind::JsonArray, columns, sample, body: Body::Rows(rows) })
        }
        other => Err(other),
    }
}

fn row(number: u64, mut map: Map<String, Value>, columns: &[String]) -> Row {
    let cells = columns.iter().map(|c| map.get_mut(c).map_or(Value::Null, Value::take)).collect();
    Row { number, cells }
}

/// The rows of JSON Lines. Blank lines are passed over.
pub fn rows(input: Input, columns: Vec<String>, limit: u64) -> Rows {
    let name = input.name.clone();
    let mut reader = BufReader::new(input.into_stream());
    let mut number = 0;
    let mut line = Vec::new();
    let mut failed = false;
    Box::new(std::iter::from_fn(move || {
        loop {
            if failed {
                return None;
            }
            line.clear();
            number += 1;
            let error =
                |problem: Problem| Some(Err(ReadError::new(name.clone(), problem).row(number)));
            match reader.by_ref().take(limit + 1).read_until(b'\n', &mut line) {
                Ok(0) => return None,
                Ok(_) if line.len() as u64 > limit => {
                    failed = true;
                    return error(Problem::TooLarge { what: "the line", limit });
                }
                Ok(_) => {}
                Err(io) => {
                    failed = true;
                    return error(io.into());
                }
            }
            let body = if number == 1 { without_bom(&line) } else { &line };
            if body.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            return match parse(body) {
                Ok(Value::Object(map)) => Some(Ok(row(number, map, &columns))),
                Ok(other) => error(Problem::Shape {
                    expected: "a JSON object on each line",
                    found: shorten(&other.to_string()),
                }),
                Err(bad) => error(Problem::Json(bad.to_string())),
            };
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;

    #[test]
    fn keys_appear_once() {
        assert!(parse(br#"{"a": 1, "b": {"c": [1, {"d": null}]}}"#).is_ok());
        let twice = parse(br#"{"b": {"c": 1, "c": 2}}"#).unwrap_err().to_string();
        assert!(twice.contains(r#"the key "c" appears twice"#), "{twice}");
    }

    #[test]
    fn deep_nesting_is_an_error_not_a_crash() {
        let deep = "[".repeat(100_000);
        assert!(parse(deep.as_bytes()).is_err());
    }

    #[test]
    fn lines_have_numbers_and_limits() {
        let text = "{\"a\": 1}\n\n{\"a\": 2, \"b\": 3}\n[4]\n";
        let input = Input::from_bytes("x", text.into()).unwrap();
        let table = open_lines(input).unwrap();
        assert_eq!(table.columns, ["a", "b"]);
        let rows: Vec<_> = table.rows(&Limits::default()).collect();
        assert_eq!(rows[1].as_ref().unwrap().number, 3);
        assert_eq!(
            rows[2].as_ref().unwrap_err().to_string(),
            "x, row 4: expected a JSON object on each line, found [4]"
        );
        let long = format!("{{\"a\": 1}}\n{{\"a\": \"{}\"}}\n", "y".repeat(100));
        let input = Input::from_bytes("x", long.into()).unwrap();
        let rows: Vec<_> = super::rows(input, vec!["a".into()], 50).collect();
        assert_eq!(rows[1].as_ref().unwrap_err().problem.code(), "too-large");
        assert_eq!(rows.len(), 2);
    }
}
