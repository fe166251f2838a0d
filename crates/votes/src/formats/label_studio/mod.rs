//! Label Studio's exports: JSON (`tasks`, every annotation in full) and JSON-MIN (`min`, one flat
//! row an annotation).
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
use dissensus_io::Source;
use dissensus_io::{Problem, ReadError};

pub(super) const FORMAT: Format = Format {
    name: "label-studio",
    title: "Label Studio: the JSON and JSON-MIN exports, choices and ratings",
    layout: r#"JSON: [{"id", "data", "annotations": [{"result": [{"type": "choices", "from_name", "value": {"choices": ["x"]}}], "completed_by", "was_cancelled"}]}]"#,
    trap: "cancelled annotations, drafts and predictions are no votes: they are left out and counted",
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
    let Source::Json(Value::Array(entries)) = source else {
        return false;
    };
    entries.iter().take(20).any(|entry| is_task(entry) || is_min(entry))
}

fn read(source: Source, collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let seen = source.describe();
    let Source::Json(Value::Array(entries)) = source else {
        return Err(collector.error(Problem::NotThisFormat { format: FORMAT.name, seen }));
    };
    let entries = objects(entries, collector)?;
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
