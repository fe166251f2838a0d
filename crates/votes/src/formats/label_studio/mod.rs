//! Label Studio's exports: JSON (`tasks`, every annotation in full), JSON-MIN and CSV (`min`, one
//! flat row an annotation).
//!
//! A vote is the answer of one annotation to one question (`from_name`): choices or a rating. A
//! file that asks several such questions needs the option `label` to say which one is read.

mod answer;
mod min;
mod tasks;

use serde_json::{Map, Value};

use super::Format;
use crate::collector::Collector;
use crate::options::ReadOptions;
use dissensus_io::Example;
use dissensus_io::ReadOption as O;
use dissensus_io::{Problem, ReadError};
use dissensus_io::{Source, Table};

pub(super) const FORMAT: Format = Format {
    name: "label-studio",
    title: "Label Studio: the JSON, JSON-MIN and CSV exports, choices and ratings",
    layout: r#"JSON: [{"id", "data", "annotations": [{"result": [{"type": "choices", "from_name", "value": {"choices": ["x"]}}], "completed_by", "was_cancelled"}]}]"#,
    trap: "cancelled annotations, references (`ground_truth`), drafts and predictions are no votes: they are left out and counted",
    examples: &[
        Example::text(
            "project.json",
            r#"[{"id": 7, "data": {"text": "Good."}, "annotations": [
  {"completed_by": 1, "was_cancelled": false, "result": [{"type": "choices", "from_name": "mood", "value": {"choices": ["pos"]}}]},
  {"completed_by": 2, "was_cancelled": false, "result": [{"type": "choices", "from_name": "mood", "value": {"choices": ["neg"]}}]}]}]
"#,
        ),
        Example::text(
            "project-min.json",
            r#"[{"text": "Good.", "id": 7, "mood": "pos", "annotator": 1, "annotation_id": 100, "lead_time": 2.1},
 {"text": "Good.", "id": 7, "mood": "neg", "annotator": 2, "annotation_id": 101, "lead_time": 1.5}]
"#,
        ),
        Example::text(
            "project.csv",
            "text,id,mood,annotator,annotation_id,created_at,updated_at,lead_time\n\
             Good.,7,pos,1,100,2024-05-01,2024-05-01,2.1\n\
             Good.,7,neg,2,101,2024-05-01,2024-05-01,1.5\n",
        ),
    ],
    options: &[O::Item, O::Label, O::Text, O::Classes, O::Missing, O::Multilabel],
    detect,
    read,
};

fn is_task(entry: &Value) -> bool {
    let annotations = entry.get("annotations").or_else(|| entry.get("completions"));
    annotations.is_some_and(Value::is_array) && entry.get("data").is_some()
}

fn is_min(entry: &Value) -> bool {
    entry.get("annotation_id").is_some() && entry.get("annotator").is_some()
}

fn detect(source: &Source, _: &ReadOptions) -> bool {
    match source {
        Source::Json(Value::Array(entries)) => {
            entries.iter().take(20).any(|entry| is_task(entry) || is_min(entry))
        }
        Source::Table(table) => {
            ["annotator", "annotation_id"].iter().all(|name| table.column(name).is_some())
                && ["lead_time", "created_at"].iter().any(|name| table.column(name).is_some())
        }
        _ => false,
    }
}

/// The rows of the CSV export, which are those of JSON-MIN with JSON in some cells.
fn rows(table: Table, collector: &mut Collector<'_>) -> Result<Vec<Entry>, ReadError> {
    let columns = table.columns.clone();
    let mut rows = Vec::new();
    for row in table.rows(&collector.options.limits) {
        let Some(row) = collector.good(row)? else {
            continue;
        };
        let cell = |cell: Value| match &cell {
            Value::String(text) if text.trim().is_empty() => Value::Null,
            Value::String(text) if text.starts_with(['{', '[']) => {
                serde_json::from_str(text).unwrap_or(cell)
            }
            _ => cell,
        };
        let cells = row.cells.into_iter().map(cell);
        rows.push((row.number, columns.iter().cloned().zip(cells).collect()));
    }
    Ok(rows)
}

fn read(source: Source, collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let seen = source.describe();
    let entries = match source {
        Source::Json(Value::Array(entries)) => objects(entries, collector)?,
        Source::Table(table) => rows(table, collector)?,
        _ => return Err(collector.error(Problem::NotThisFormat { format: FORMAT.name, seen })),
    };
    if entries.iter().any(|(_, entry)| entry.contains_key("annotation_id")) {
        min::read(&entries, collector)
    } else {
        tasks::read(&entries, collector)
    }
}

/// An entry with its place from 1.
type Entry = (u64, Map<String, Value>);

fn objects(entries: Vec<Value>, collector: &mut Collector<'_>) -> Result<Vec<Entry>, ReadError> {
    let mut objects = Vec::with_capacity(entries.len());
    for (entry, row) in entries.into_iter().zip(1..) {
        match entry {
            Value::Object(entry) => objects.push((row, entry)),
            other => {
                let error = answer::shape(collector, "an object", &other).row(row);
                collector.reject(error)?;
            }
        }
    }
    Ok(objects)
}
