//! Classification exports of Zooniverse: one row per classification, the answers to all tasks as JSON in
//! `annotations`.
//!
//! The item is the subject, the annotator the user. An answer is a text, a list of texts or a list of choices of a
//! survey (`{"choice": "LION", …}`). Tasks are questions; marks that were drawn are none.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Format;
use super::columns;
use super::long::Layout;
use super::long_rows::{self, Labels};
use crate::collector::Collector;
use crate::options::ReadOptions;
use dissensus_io::Example;
use dissensus_io::ReadOption as O;
use dissensus_io::{Problem, ReadError, ReadOption, Row, Source, Table, cell_text};

pub(super) const FORMAT: Format = Format {
    name: "zooniverse",
    title: "Zooniverse: the export of classifications, answers as JSON in a cell",
    layout: "CSV with the columns classification_id, user_name, subject_ids, annotations ([{\"task\": \"T0\", \"value\": …}])",
    trap: "the answers to all tasks stand in one cell: each task is a question of its own",
    examples: &[Example::text(
        "classifications.csv",
        "classification_id,user_name,subject_ids,annotations\n\
         1,ann,7,\"[{\"\"task\"\": \"\"T0\"\", \"\"value\"\": \"\"yes\"\"}]\"\n\
         2,bob,7,\"[{\"\"task\"\": \"\"T0\"\", \"\"value\"\": \"\"no\"\"}]\"\n",
    )],
    options: &[O::Label, O::Classes, O::Missing, O::Multilabel],
    detect,
    read,
};

fn detect(source: &Source, _: &ReadOptions) -> bool {
    let Source::Table(table) = source else {
        return false;
    };
    ["subject_ids", "annotations"].iter().all(|name| table.column(name).is_some())
}

/// The tasks of a cell and their answers; `None` for what is no answer.
fn tasks(cell: &Value) -> Vec<(String, Option<Vec<String>>)> {
    let parsed: Option<Value> = match cell {
        Value::String(text) => serde_json::from_str(text).ok(),
        other => Some(other.clone()),
    };
    let Some(Value::Array(list)) = parsed else { return Vec::new() };
    let task = |entry: &Value| Some((cell_text(entry.get("task")?)?, answers(entry.get("value")?)));
    list.iter().filter_map(task).collect()
}

fn answers(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Null => Some(Vec::new()),
        Value::String(_) | Value::Number(_) | Value::Bool(_) => {
            Some(cell_text(value).into_iter().collect())
        }
        Value::Array(list) => list
            .iter()
            .map(|entry| match entry {
                Value::String(_) | Value::Number(_) => cell_text(entry),
                Value::Object(map) => map.get("choice").and_then(cell_text),
                _ => None,
            })
            .collect(),
        Value::Object(_) => None,
    }
}

fn read(source: Source, collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let seen = source.describe();
    let Source::Table(table) = source else {
        return Err(collector.error(Problem::NotThisFormat { format: FORMAT.name, seen }));
    };
    let (layout, question) =
        layout(&table, collector).map_err(|problem| collector.error(problem).row(1))?;
    let column = layout.label;
    let labels = move |row: &Row| {
        let mut found = Vec::new();
        for (task, answers) in tasks(row.cell(column)) {
            if task == question {
                found.extend(answers.unwrap_or_default());
            }
        }
        // Not asked, which is not the same as nothing chosen.
        Ok(if found.is_empty() { vec![String::new()] } else { found })
    };
    long_rows::read(table, layout, Labels::Own(Box::new(labels)), None, collector)
}

fn layout(table: &Table, collector: &mut Collector<'_>) -> Result<(Layout, String), Problem> {
    let need = |name: &str, role| table.column(name).ok_or_else(|| columns::no_column(table, role));
    let item = need("subject_ids", columns::Role::Item)?;
    let label = need("annotations", columns::Role::Label)?;
    let annotator = table.column("user_name").or_else(|| table.column("user_id"));
    let (mut questions, mut marks) = (BTreeSet::new(), BTreeSet::new());
    for (task, answers) in table.sample.iter().flat_map(|row| tasks(row.cell(label))) {
        match answers {
            Some(answers) if !answers.is_empty() => questions.insert(task),
            Some(_) => false,
            None => marks.insert(task),
        };
    }
    questions.retain(|task| !marks.contains(task));
    let question = match &collector.options.label {
        Some(said) => questions.get(said).cloned(),
        None if questions.len() == 1 => questions.first().cloned(),
        None => None,
    };
    let Some(question) = question else {
        let expected = "one task of Zooniverse to read";
        let found = match questions.len() {
            0 => {
                vec!["none with answers by choice (marks that were drawn hold no votes)".to_owned()]
            }
            _ => questions.into_iter().collect(),
        };
        return Err(Problem::Choice { expected, found, option: ReadOption::Label });
    };
    if collector.options.label.is_none() {
        collector.note("question", question.clone());
    }
    Ok((Layout { annotator, ..Layout::of(item, label) }, question))
}

#[cfg(test)]
mod tests {
    use crate::{MultiLabel, ReadOptions, read_bytes};

    const ROWS: &str = "classification_id,user_name,subject_ids,annotations\n\
        1,ann,7,\"[{\"\"task\"\": \"\"T0\"\", \"\"value\"\": [{\"\"choice\"\": \"\"LION\"\"}, {\"\"choice\"\": \"\"FOX\"\"}]}]\"\n\
        2,bob,7,\"[{\"\"task\"\": \"\"T0\"\", \"\"value\"\": [{\"\"choice\"\": \"\"LION\"\"}]}, {\"\"task\"\": \"\"T1\"\", \"\"value\"\": [{\"\"x\"\": 1, \"\"y\"\": 2}]}]\"\n";

    #[test]
    fn choices_are_labels_and_marks_are_not() {
        let each = ReadOptions { multilabel: MultiLabel::Each, ..ReadOptions::default() };
        let reading = read_bytes("x", ROWS.into(), &each).unwrap();
        assert_eq!(reading.format.name, "zooniverse");
        assert_eq!(reading.table.classes().names(), ["FOX", "LION"]);
        assert_eq!(reading.table.counts().unwrap().row(0, 2), [0.5, 1.5]);
    }
}
