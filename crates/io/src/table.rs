//! Rows under named columns, whatever they are stored in.

use std::sync::Arc;

use serde_json::Value;

use crate::delimited::{self, Dialect};
use crate::error::ReadError;
use crate::frame::Frame;
use crate::input::Input;
use crate::json;
use crate::options::Limits;
#[cfg(feature = "parquet")]
use crate::parquet;
use crate::selection::Part;

/// How a table is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// CSV, TSV and their like.
    Delimited(Dialect),
    /// One JSON object per line.
    JsonLines,
    /// A JSON array of objects.
    JsonArray,
    /// Parquet.
    Parquet,
    /// Columns in memory.
    Frame,
    /// A part of another table.
    Selected,
}

impl TableKind {
    /// A few words for people.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Delimited(d) if d.delimiter == b'\t' => "a TSV table",
            Self::Delimited(_) => "a CSV table",
            Self::JsonLines => "JSON Lines",
            Self::JsonArray => "a JSON array of rows",
            Self::Parquet => "a Parquet table",
            Self::Frame => "a data frame",
            Self::Selected => "a part of a table",
        }
    }
}

/// One row; cells stand in the order of the table's columns, `Null` where there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Row from 1; a header counts.
    pub number: u64,
    /// One cell per column.
    pub cells: Vec<Value>,
}

impl Row {
    /// A cell, `Null` where the column does not exist.
    pub fn cell(&self, column: usize) -> &Value {
        self.cells.get(column).unwrap_or(&Value::Null)
    }
}

pub(super) enum Body {
    Text(Input),
    Rows(Vec<Row>),
    #[cfg(feature = "parquet")]
    Parquet(parquet::Bytes),
    Frame(Arc<dyn Frame>),
    Part(Box<Part>),
}

/// An opened table.
pub struct Table {
    /// How it is stored.
    pub kind: TableKind,
    /// Column names; `#1`, `#2`, … where there is no header.
    pub columns: Vec<String>,
    /// The first rows, to guess from.
    pub sample: Vec<Row>,
    pub(super) body: Body,
}

/// Rows one after another.
pub type Rows = Box<dyn Iterator<Item = Result<Row, ReadError>>>;

/// Rows of a frame that are looked at to guess from.
const SAMPLE: usize = 200;

impl Table {
    /// The table of a frame.
    pub fn from_frame(frame: Arc<dyn Frame>) -> Self {
        let columns = frame.columns().to_vec();
        let sample = (0..frame.len().min(SAMPLE)).map(|row| frame_row(&*frame, row)).collect();
        Self { kind: TableKind::Frame, columns, sample, body: Body::Frame(frame) }
    }

    /// The frame behind it, where there is one.
    pub fn frame(&self) -> Option<&Arc<dyn Frame>> {
        match &self.body {
            Body::Frame(frame) => Some(frame),
            _ => None,
        }
    }

    /// All rows from the first.
    pub fn rows(self, limits: &Limits) -> Rows {
        let limit = limits.line;
        match (self.kind, self.body) {
            (TableKind::Delimited(dialect), Body::Text(input)) => {
                delimited::rows(input, dialect, &self.columns, limit)
            }
            (TableKind::JsonLines, Body::Text(input)) => json::rows(input, self.columns, limit),
            #[cfg(feature = "parquet")]
            (_, Body::Parquet(bytes)) => parquet::rows(bytes, &self.columns),
            (_, Body::Rows(rows)) => Box::new(rows.into_iter().map(Ok)),
            (_, Body::Frame(frame)) => {
                Box::new((0..frame.len()).map(move |row| Ok(frame_row(&*frame, row))))
            }
            (_, Body::Part(part)) => part.rows(limits),
            (_, Body::Text(_)) => Box::new(std::iter::empty()),
        }
    }

    /// The table with every cell as `map` makes it of the column and the cell; it is read as a whole.
    pub fn map_cells(
        self,
        limits: &Limits,
        map: impl Fn(usize, Value) -> Value,
    ) -> Result<Self, ReadError> {
        let (kind, columns, samples) = (self.kind, self.columns.clone(), self.sample.len());
        let mapped = |row: Row| {
            let cells = row.cells.into_iter().enumerate().map(|(at, cell)| map(at, cell)).collect();
            Row { number: row.number, cells }
        };
        let rows: Result<Vec<Row>, ReadError> =
            self.rows(limits).map(|row| row.map(mapped)).collect();
        let rows = rows?;
        let sample = rows.iter().take(samples).cloned().collect();
        Ok(Self { kind, columns, sample, body: Body::Rows(rows) })
    }

    /// The text behind a delimited table, for readers that take it apart themselves.
    pub fn into_input(self) -> Option<Input> {
        match self.body {
            Body::Text(input) => Some(input),
            _ => None,
        }
    }

    /// The value of a key in the table's own metadata; only Parquet and frames have any.
    pub fn metadata(&self, key: &str) -> Option<String> {
        match &self.body {
            #[cfg(feature = "parquet")]
            Body::Parquet(bytes) => parquet::metadata(bytes, key),
            Body::Frame(frame) => frame.metadata(key),
            Body::Part(part) => part.metadata(key),
            Body::Text(_) | Body::Rows(_) => None,
        }
    }

    /// The place of a column with this name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c == name)
    }
}

fn frame_row(frame: &dyn Frame, row: usize) -> Row {
    let cells = (0..frame.columns().len()).map(|column| frame.cell(row, column)).collect();
    Row { number: row as u64 + 1, cells }
}

/// A cell as the text of an id or label; `None` for a missing one. Whole numbers lose their
/// point, so that 3 and 3.0 are one label whatever the container did to them.
pub fn cell_text(cell: &Value) -> Option<String> {
    match cell {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(match number.as_f64() {
            Some(value) if number.is_f64() && value.fract() == 0.0 && value.abs() < 1e15 => {
                format!("{}", value as i64)
            }
            _ => number.to_string(),
        }),
        Value::Bool(value) => Some(value.to_string()),
        Value::Array(_) | Value::Object(_) => Some(cell.to_string()),
    }
}
