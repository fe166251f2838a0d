//! The JSON-MIN export: one flat row an annotation, the task's fields beside the answers.
//!
//! Label Studio writes the fields of the task, then `id`, then one key a question, then `annotator`
//! and `annotation_id`: so the questions are the keys between `id` and `annotator`. Cancelled
//! annotations are not exported. A single choice is a text, several ones and ratings are objects.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::Entry;
use super::answer;
use crate::collector::{Collector, Places, Severity};
use crate::names;
use dissensus_io::cell_text;
use dissensus_io::{Problem, ReadError};

pub(super) fn read(rows: &[Entry], collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let mut seen = HashSet::new();
    let asked = rows.iter().flat_map(|(_, entry)| asked(entry));
    let mut questions: Vec<String> =
        asked.filter(|name| seen.insert(name.as_str())).cloned().collect();
    if collector.options.label.is_none()
        && rows.iter().all(|(_, entry)| entry.keys().is_sorted())
        && questions.len() > 1
    {
        // In alphabetical order, the questions stand among the fields of the task.
        questions.retain(|name| names::label(name).is_some());
        if questions.len() != 1 {
            return Err(collector.error(Problem::NotRead {
                what: "an export of Label Studio whose columns are in alphabetical order: no column of labels is \
                       known, as questions and fields of the task stand together"
                    .to_owned(),
                remedy: Some("name the question with `label`, or export JSON"),
            }));
        }
    }
    let question = answer::question(questions, collector)?;
    let text = collector.options.text.as_deref().unwrap_or("text");
    let (mut unanswered, mut nameless) = (Places::default(), Places::default());
    for (row, entry) in rows {
        let row = *row;
        let Some(id) = answer::item_id(entry, &Value::Null, row, collector)? else {
            continue;
        };
        let first = !collector.builder.has_item(&id);
        collector.name_item(&id, row)?;
        if let (true, Some(text)) = (first, entry.get(text).and_then(Value::as_str)) {
            collector.text(&id, text);
        }
        let given = entry.get(&question).unwrap_or(&Value::Null);
        let Some(labels) = labels(given) else {
            let error = answer::shape(collector, "a choice or a rating", given).row(row);
            collector.reject(error.column(&question).item(&id))?;
            continue;
        };
        let several = collector.kept(&labels);
        if several.len() < labels.len() || labels.is_empty() {
            unanswered.add(&id, row);
        }
        if several.is_empty() {
            continue;
        }
        let who = entry.get("annotator").and_then(answer::annotator);
        if who.is_none() {
            nameless.add(&id, row);
        }
        collector.vote_several(&id, who.as_deref(), &several, row)?;
    }
    let ask = "submit them in Label Studio and export again";
    let what = "annotations without an answer to the question";
    unanswered.left_out(collector, "missing-value", what, ask);
    let message = "annotator names nobody: a vote of an unknown annotator";
    nameless.find(collector, Severity::Note, "no-annotator", message, "name the annotator");
    Ok(())
}

/// The questions of a row: the keys between `id` and `annotator`.
fn asked(entry: &Map<String, Value>) -> impl Iterator<Item = &String> {
    let behind = entry.keys().skip_while(|key| *key != "id").skip(1);
    behind.take_while(|key| *key != "annotator")
}

/// The labels of an answer; none where there is no answer.
fn labels(given: &Value) -> Option<Vec<String>> {
    match given {
        Value::Null => Some(Vec::new()),
        Value::String(_) | Value::Number(_) => Some(cell_text(given).into_iter().collect()),
        Value::Object(_) => answer::labels(given),
        Value::Array(several) => {
            let lists: Option<Vec<Vec<String>>> = several.iter().map(labels).collect();
            Some(lists?.into_iter().flatten().collect())
        }
        Value::Bool(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::{MultiLabel, ReadOptions, read_bytes};

    const ROWS: &str = r#"[
        {"text": "Good.", "id": 5, "mood": "pos", "annotator": 1, "annotation_id": 100, "lead_time": 2.1},
        {"text": "Good.", "id": 5, "mood": {"choices": ["pos", "neg"]}, "annotator": 2, "annotation_id": 101, "lead_time": 3},
        {"text": "Bad.", "id": 6, "annotator": {}, "annotation_id": null, "lead_time": null}
    ]"#;

    #[test]
    fn flat_rows() {
        let options = ReadOptions { multilabel: MultiLabel::Each, ..ReadOptions::default() };
        let reading = read_bytes("x", ROWS.into(), &options).unwrap();
        assert_eq!(reading.format.name, "label-studio");
        assert_eq!(reading.table.len(), 2);
        assert_eq!(reading.table.counts().unwrap().row(0, 2), [0.5, 1.5]);
        assert_eq!(reading.texts.len(), 2);
        let notes: Vec<_> =
            reading.notes[1..].iter().map(|n| format!("{}: {}", n.what, n.value)).collect();
        assert_eq!(
            notes,
            ["question: mood", "left out: annotations without an answer to the question: 1"]
        );
        let rated = ROWS.replace("\"pos\", \"annotator", "[{\"rating\": 4}], \"annotator");
        let reading = read_bytes("x", rated.into(), &options).unwrap();
        assert_eq!(reading.table.classes().names(), ["4", "neg", "pos"]);
    }

    #[test]
    fn bad_rows_are_named() {
        let error = |text: String| {
            read_bytes("x", text.into(), &ReadOptions::default()).err().unwrap().to_string()
        };
        assert_eq!(
            error(ROWS.to_owned()),
            "x, row 2, item \"5\": several labels in one vote: \"pos, neg\""
        );
        assert_eq!(
            error(ROWS.replace("\"mood\": \"pos\"", "\"mood\": true")),
            "x, row 1, column \"mood\", item \"5\": expected a choice or a rating, found true"
        );
        assert_eq!(
            error(ROWS.replace("\"mood\": \"pos\"", "\"topic\": \"pos\"")),
            "x: expected one question to read, found topic, mood"
        );
        assert_eq!(
            error(ROWS.replace("\"id\": 6", "\"id\": null").replace("\"pos\", \"neg\"", "\"neg\"")),
            "x, row 3, column \"id\": the item is empty"
        );
    }
}
